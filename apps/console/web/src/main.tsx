import '@fontsource-variable/inter/wght.css'
import './styles/tokens.css'
import './styles/base.css'
import './styles/controls.css'
import './styles/surfaces.css'
import './styles/tables.css'
import './styles/fields.css'
import './styles/page.css'
import './styles/shell.css'
import './styles/jobs.css'
import './styles/data.css'
import './styles/map.css'
import './styles/maps.css'
import './styles/matches.css'
import './styles/route.css'
import './styles/functions.css'
import './styles/sql.css'
import './styles/small-screens.css'
import './styles/print.css'
import { render } from 'preact'
import { App } from './app.tsx'
import { lazyComponent } from './components/lazy.tsx'

const PublicMapPage = lazyComponent(() => import('./pages/public-map-page.tsx').then((module) => module.PublicMapPage))

const root = document.querySelector('#app')
// A public map needs no session.
if (root) render(location.pathname.startsWith('/m/') ? <PublicMapPage /> : <App />, root)
