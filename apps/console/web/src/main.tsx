import '@fontsource-variable/inter/wght.css'
import './styles/tokens.css'
import './styles/base.css'
import './styles/controls.css'
import './styles/layout.css'
import './styles/pages.css'
import { render } from 'preact'
import { App } from './app.tsx'

const root = document.querySelector('#app')
if (root) render(<App />, root)
