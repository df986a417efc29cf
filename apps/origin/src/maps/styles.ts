import { validateStyleMin, type StyleSpecification } from '@maplibre/maplibre-gl-style-spec'
import { refuseCostlyJson } from '@terrane/service'
import { badMapFile } from './errors.ts'

/** Maximum faults of a style that an error names. */
const MOST_NAMED = 5
const HINT = 'Send a MapLibre style: https://maplibre.org/maplibre-style-spec/'

/**
 * Reads a MapLibre style. Addresses in it that begin with `/` are those of this origin.
 *
 * @throws BAD_MAP_FILE, BODY_TOO_DEEP, BODY_TOO_WIDE
 */
export function readStyle(content: Uint8Array): StyleSpecification {
  const style = parsed(content)
  const errors = validateStyleMin(withAddresses(style, (path) => `https://origin${path}`))
  if (errors.length === 0) return style
  const named = errors.slice(0, MOST_NAMED).map(({ message }) => message)
  const more = errors.length > MOST_NAMED ? `; and ${errors.length - MOST_NAMED} more` : ''
  throw badMapFile('style', `${named.join('; ')}${more}`, HINT)
}

function parsed(content: Uint8Array): StyleSpecification {
  const text = Buffer.from(content).toString('utf8')
  refuseCostlyJson(text)
  let style: unknown
  try {
    style = JSON.parse(text)
  } catch {
    throw badMapFile('style', 'it is no JSON', HINT)
  }
  if (typeof style !== 'object' || style === null || Array.isArray(style))
    throw badMapFile('style', 'it is not an object', HINT)
  return style as StyleSpecification
}

/**
 * The style with absolute addresses. Those of this origin get the key from the URL of the request.
 *
 * @param origin `https://host`
 * @param key the publishable key in the URL; null when the key is in a header
 */
export function addressedStyle(content: Uint8Array, origin: string, key: string | null): StyleSpecification {
  const style = JSON.parse(Buffer.from(content).toString('utf8')) as StyleSpecification
  return withAddresses(
    style,
    (path) => {
      if (key === null) return `${origin}${path}`
      const [plain = '', fragment] = path.split('#', 2)
      const whole = `${origin}${plain}${plain.includes('?') ? '&' : '?'}apikey=${encodeURIComponent(key)}`
      return fragment === undefined ? whole : `${whole}#${fragment}`
    },
    origin,
  )
}

/** Replaces the addresses of this origin in a style; templates in braces are kept. */
function withAddresses(style: StyleSpecification, replace: (path: string) => string, origin = ''): StyleSpecification {
  const one = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(one)
    if (typeof value !== 'string') return value
    const path = origin !== '' && value.startsWith(`${origin}/`) ? value.slice(origin.length) : value
    return path.startsWith('/') && !path.startsWith('//') ? replace(path) : value
  }
  const members = (given: object, names: readonly string[]) =>
    Object.fromEntries(Object.entries(given).map(([name, value]) => [name, names.includes(name) ? one(value) : value]))
  const { sprite, glyphs, sources } = style
  return {
    ...style,
    ...(glyphs !== undefined && { glyphs: one(glyphs) }),
    ...(sprite !== undefined && {
      sprite: Array.isArray(sprite) ? sprite.map((part) => members(part, ['url'])) : one(sprite),
    }),
    ...(isObject(sources) && {
      sources: Object.fromEntries(
        Object.entries(sources).map(([id, source]) => [
          id,
          isObject(source) ? members(source, ['url', 'urls', 'tiles', 'data']) : source,
        ]),
      ),
    }),
  } as StyleSpecification
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
