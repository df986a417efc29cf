import { createStore } from './store.ts'

export type Theme = 'system' | 'light' | 'dark'

const KEY = 'terrane.theme'
const system = matchMedia('(prefers-color-scheme: dark)')

/** The user's choice; theme.js has applied it before the first paint. */
export const theme = createStore<Theme>((document.documentElement.dataset['theme'] as Theme | undefined) ?? 'system')
/** True when the page has the dark theme. */
export const isDark = createStore(resolve())

export function setTheme(next: Theme): void {
  localStorage.setItem(KEY, next)
  document.documentElement.dataset['theme'] = next
  theme.set(next)
  isDark.set(resolve())
}

system.addEventListener('change', () => isDark.set(resolve()))

function resolve(): boolean {
  const chosen = theme.get()
  return chosen === 'system' ? system.matches : chosen === 'dark'
}
