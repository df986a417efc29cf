interface Link {
  readonly href: string
  readonly rel: string
  readonly title?: string
  readonly type?: string
}

interface Shape {
  readonly type: string
}

/** Policy of pages: they contain no script and load nothing. */
export const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"

const STYLE =
  'body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#1d2530}table{border-collapse:collapse;width:100%}td,th{border:1px solid #d5dbe3;padding:.3rem .6rem;text-align:left;vertical-align:top;overflow-wrap:anywhere}a{color:#0b62c4}pre{background:#f4f6f9;padding:1rem;white-space:pre-wrap;overflow-wrap:anywhere}'

/** A document of the API as a page for people: links, the list as a table, the rest as JSON or the given text. */
export function htmlPage(title: string, document: Record<string, unknown>, text?: string): string {
  const { links = [], collections, features, ...rest } = document
  const list = (collections ?? features) as readonly Record<string, unknown>[] | undefined
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title><style>${STYLE}</style></head><body><h1>${escaped(title)}</h1>
${listOfLinks(links as readonly Link[])}${list ? table(list) : ''}<pre>${escaped(text ?? JSON.stringify(rest, null, 2))}</pre></body></html>`
}

function listOfLinks(links: readonly Link[]): string {
  const items = links.map(
    ({ href, rel, title, type }) =>
      `<li><a href="${escaped(asPage(href, type))}">${escaped(title ?? rel)}</a> ${escaped(rel)} ${escaped(type ?? '')}</li>`,
  )
  return `<ul>${items.join('')}</ul>`
}

/** Keeps the format of pages in links between them. */
function asPage(href: string, type: string | undefined): string {
  return type === 'application/json' || type === 'application/geo+json' ? withFormat(href, 'html') : href
}

/** The address of a document in a format. */
export function withFormat(href: string, format: string): string {
  const url = new URL(href)
  url.searchParams.set('f', format)
  return url.href
}

function table(list: readonly Record<string, unknown>[]): string {
  const rows = list.map(({ id, title, properties, geometry, links }) => {
    const self = (links as readonly Link[] | undefined)?.find(({ rel }) => rel === 'self' || rel === 'items')
    const name = escaped(textOf(id))
    const values: Record<string, unknown> = {
      ...(title !== undefined && { title }),
      ...(properties as object | undefined),
      ...(geometry !== undefined && { geometry: (geometry as Shape | null)?.type }),
    }
    return {
      name: self ? `<a href="${escaped(asPage(self.href, self.type))}">${name}</a>` : name,
      values,
    }
  })
  const columns = [...new Set(rows.flatMap(({ values }) => Object.keys(values)))]
  const head = ['id', ...columns].map((one) => `<th>${escaped(one)}</th>`).join('')
  const body = rows.map(
    ({ name, values }) =>
      `<tr><td>${name}</td>${columns.map((one) => `<td>${escaped(textOf(values[one]))}</td>`).join('')}</tr>`,
  )
  return `<table><thead><tr>${head}</tr></thead><tbody>${body.join('')}</tbody></table>`
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
