import { createReadStream } from 'node:fs'
import { join } from 'node:path'

/** Files of a KMZ besides documents: pictures and models. */
const BESIDE_KML = /\.(?:png|jpe?g|gif|dae|bmp|tiff?|svg)$/
const MAIN = 'doc.kml'
const LINK = /<href>(?:([^<]{1,2000})|<!\[CDATA\[([^\]<]{1,2000})\]\]>)<\/href>/gi
const PLACEMARK = /<(?:\w+:)?Placemark[\s>]/
/** Characters kept from one piece to the next, for matches across the border. */
const OVERLAP = 4096

/** Files of an archive to read, and documents without a link to them. */
export interface KmzDocuments {
  readonly chosen: readonly string[]
  readonly unlinked: readonly string[]
}

/**
 * The documents of a KMZ: `doc.kml`, and the documents that it links to within the archive; all documents without a
 * `doc.kml`. A document with only links is left out. An archive with other files does not count as a KMZ: all of its
 * files are read.
 *
 * @param names of files in the folder, in lower case
 */
export async function kmzDocuments(folder: string, names: readonly string[]): Promise<KmzDocuments> {
  const documents = names.filter((name) => name.endsWith('.kml'))
  const isKmz = documents.length > 0 && names.every((name) => name.endsWith('.kml') || BESIDE_KML.test(name))
  if (!isKmz) return { chosen: names, unlinked: [] }
  if (!documents.includes(MAIN)) return { chosen: documents, unlinked: [] }
  const found = new Map<string, boolean>()
  for (const open = [MAIN]; open.length > 0;) {
    const name = open.pop()!
    if (found.has(name)) continue
    const { links, hasPlacemarks } = await lookInto(join(folder, name))
    found.set(name, hasPlacemarks)
    open.push(...documents.filter((other) => links.some((link) => leadsTo(link, other))))
  }
  const linked = documents.filter((name) => found.has(name))
  const filled = linked.filter((name) => found.get(name))
  const unlinked = documents.filter((name) => !found.has(name))
  return { chosen: filled.length > 0 ? filled : [MAIN], unlinked }
}

async function lookInto(path: string): Promise<{ links: string[]; hasPlacemarks: boolean }> {
  const links = new Set<string>()
  let hasPlacemarks = false
  let before = ''
  for await (const piece of createReadStream(path, 'utf8') as AsyncIterable<string>) {
    const text = before + piece
    for (const [, plain, marked = ''] of text.matchAll(LINK)) links.add((plain ?? marked).trim())
    hasPlacemarks ||= PLACEMARK.test(text)
    before = text.slice(-OVERLAP)
  }
  return { links: [...links], hasPlacemarks }
}

/** Whether a link refers to a file (whose name lacks its folders) or to a part of it. */
function leadsTo(link: string, name: string): boolean {
  if (/^[a-z]+:/i.test(link)) return false
  const path = decoded(link.split(/[?#]/, 1)[0]!).toLowerCase()
  const parts = path.split('/').filter((part) => part !== '' && part !== '.' && part !== '..')
  return parts.at(-1) === name || parts.join('_') === name
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
