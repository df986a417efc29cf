import { posix } from 'node:path'

/** Source of a file. */
export type FileSource =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'storage'; readonly bucket: string; readonly path: string }

/** Form of a file name: a VRT has plain names, STAC has URLs with escapes such as `%20`. */
export type NameKind = 'name' | 'address'

/**
 * The file that a VRT or a STAC item names: an https URL, or a file relative to the VRT or item, of the same kind. Null
 * for anything else, because sources in storage or at a URL must not refer to local files.
 *
 * @param base location of the VRT or item; null for an item in a request
 */
export function fileNear(written: string, base: FileSource | null, kind: NameKind): FileSource | null {
  const text = written.replace(/^\/vsicurl\//, '')
  if (/^https?:\/\//i.test(text)) return URL.canParse(text) ? { kind: 'url', url: text } : null
  if (base?.kind === 'url') {
    const address = kind === 'name' ? text.split('/').map(encodeURIComponent).join('/') : text
    // `//host/…` and `file:` would leave the base location.
    const url = URL.parse(address, base.url)
    return url !== null && url.origin === URL.parse(base.url)?.origin ? { kind: 'url', url: url.href } : null
  }
  const name = kind === 'name' ? text : nameOf(text)
  if (base === null || name === null || /^[/\\]|\\|\0/.test(name)) return null
  const path = posix.join(posix.dirname(base.path), name)
  if (base.kind === 'path') return { kind: 'path', path }
  return path.startsWith('../') || path === '..' ? null : { kind: 'storage', bucket: base.bucket, path }
}

/** The name of a file at a relative address; null for other addresses. */
function nameOf(address: string): string | null {
  if (/^[a-z][a-z0-9+.-]*:/i.test(address)) return null
  try {
    return decodeURIComponent(address.split(/[?#]/)[0]!)
  } catch {
    return null
  }
}
