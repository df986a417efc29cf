import { posix } from 'node:path'
import type { FileSource } from '../source.ts'

/**
 * The file that a VRT or a STAC item names: an https URL, or a file relative to where that lies, of the same kind. Null for
 * anything else: what lies in storage or at an address names no files of the machine.
 *
 * @param base where the VRT or item lies; null for an item of a request
 */
export function fileNear(name: string, base: FileSource | null): FileSource | null {
  const text = name.replace(/^\/vsicurl\//, '')
  if (/^https?:\/\//i.test(text)) return URL.canParse(text) ? { kind: 'url', url: text } : null
  if (base?.kind === 'url') {
    // `//host/…` and `file:` would leave the place.
    const url = URL.parse(text, base.url)
    return url !== null && url.origin === URL.parse(base.url)?.origin ? { kind: 'url', url: url.href } : null
  }
  if (base === null || /^[a-z][a-z0-9+.-]*:|^[/\\]|\\|\0/i.test(text)) return null
  if (base.kind === 'path') return { kind: 'path', path: posix.join(posix.dirname(base.path), text) }
  const path = posix.join(posix.dirname(base.path), text)
  return path.startsWith('../') || path === '..' ? null : { kind: 'storage', bucket: base.bucket, path }
}
