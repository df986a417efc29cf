import type { JSX } from 'preact'
import { createStore, useStore } from './store.ts'

const place = createStore(location.pathname + location.search)
addEventListener('popstate', ({ state }) => {
  place.set(location.pathname + location.search)
  // Restores the scroll position here, because the browser did it before this page was rendered.
  const { scroll } = (state ?? {}) as { readonly scroll?: number }
  if (scroll) requestAnimationFrame(() => requestAnimationFrame(() => scrollTo(0, scroll)))
})

/** Navigates to a path of the page. */
export function navigate(to: string, options: { replace?: boolean } = {}): void {
  if (options.replace) history.replaceState(null, '', to)
  else {
    history.replaceState({ scroll: scrollY }, '')
    history.pushState(null, '', to)
  }
  place.set(to)
  scrollTo(0, 0)
}

/** Current path of the page, without its query, and the query. */
export function usePlace(): { readonly path: string; readonly query: URLSearchParams } {
  const [path = '/', query = ''] = useStore(place).split('?')
  return { path, query: new URLSearchParams(query) }
}

/** The decoded parts of a path for a pattern like `/p/:ref/jobs`; null when it does not match. */
export function match(pattern: string, path: string): Readonly<Record<string, string>> | null {
  const wanted = pattern.split('/')
  const given = path.replace(/\/$/, '').split('/')
  if (wanted.length !== given.length) return null
  const found: Record<string, string> = {}
  for (const [i, part] of wanted.entries()) {
    const segment = given[i] ?? ''
    if (part.startsWith(':')) found[part.slice(1)] = decodeURIComponent(segment)
    else if (part !== segment) return null
  }
  return found
}

/** A link within the page; clicks with modifier keys are left to the browser. */
export function Link({ href, ...rest }: JSX.IntrinsicElements['a'] & { href: string }): JSX.Element {
  return (
    <a
      {...rest}
      href={href}
      onClick={(event) => {
        if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
        event.preventDefault()
        navigate(href)
      }}
    />
  )
}
