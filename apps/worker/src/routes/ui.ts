import type { Http } from '@terrane/service'

/** `GET /ui`: the OpenAPI document as one HTML page without scripts. */
export function uiRoute(app: Http): void {
  app.get('/ui', { schema: { hide: true } }, async (_, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', `default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'`)
      .header('x-content-type-options', 'nosniff')
      .send(page(app.swagger() as unknown as Document)),
  )
}

interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

interface Operation {
  readonly summary?: string
  readonly description?: string
  readonly parameters?: readonly {
    name: string
    in: string
    required?: boolean
    description?: string
    schema: Schema
  }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
  readonly responses?: Readonly<Record<string, { readonly description?: string }>>
}

interface Document {
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h2 { font-size: 1.1rem; margin-top: 2.5rem; border-top: 1px solid color-mix(in srgb, currentColor 20%, transparent); padding-top: 1rem }
code, .method { font-family: ui-monospace, monospace } .method { font-weight: 700; text-transform: uppercase; margin-right: .5rem }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0 }
.scroll { overflow-x: auto } .dim { opacity: .7 } .required::after { content: ' *' }
`

function page(document: Document): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => section(method, path, operation)),
  )
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escape(document.info.title)}</title><style>${STYLE}</style>
<h1>${escape(document.info.title)} <span class="dim">${escape(document.info.version)}</span></h1>
<p>${escape(document.info.description)}</p>
<p>Machine-readable: <a href="doc"><code>/doc</code></a> (OpenAPI 3.1). Fields marked * are required.</p>
${operations.join('\n')}</html>`
}

function section(method: string, path: string, operation: Operation): string {
  const body = Object.values(operation.requestBody?.content ?? {})[0]?.schema
  const parameters = (operation.parameters ?? []).map((p) =>
    row(
      `${p.name} <span class="dim">${escape(p.in)}</span>`,
      { ...p.schema, ...(p.description && { description: p.description }) },
      p.required ?? false,
    ),
  )
  const fields = Object.entries(body?.properties ?? {}).map(([name, schema]) =>
    row(escape(name), schema, body?.required?.includes(name) ?? false),
  )
  const rows = [...parameters, ...fields]
  const statuses = Object.keys(operation.responses ?? {}).join(', ')
  return `<h2><span class="method">${escape(method)}</span><code>${escape(path)}</code></h2>
<p>${escape(operation.summary ?? '')}${operation.description ? `<br><span class="dim">${escape(operation.description)}</span>` : ''}</p>
${rows.length > 0 ? `<div class="scroll"><table><tr><th>field<th>type<th>default<th>meaning</tr>${rows.join('')}</table></div>` : ''}
<p class="dim">Answers: ${escape(statuses)}</p>`
}

function row(name: string, schema: Schema, required: boolean): string {
  const fallback = schema.default === undefined ? '' : `<code>${escape(JSON.stringify(schema.default))}</code>`
  return `<tr><td class="${required ? 'required' : ''}">${name}<td>${escape(typeOf(schema))}<td>${fallback}<td>${escape(schema.description ?? '')}</tr>`
}

function typeOf(schema: Schema): string {
  if (schema.enum) return schema.enum.join(' | ')
  if (schema.items) return `array of ${typeOf(schema.items)}`
  const range = [
    schema.minimum === undefined ? '' : `≥ ${schema.minimum}`,
    schema.maximum === undefined ? '' : `≤ ${schema.maximum}`,
  ]
  return [schema.type ?? 'any', ...range].filter(Boolean).join(' ')
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)
}
