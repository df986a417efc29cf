import { createReadStream } from 'node:fs'
import { SaxesParser } from 'saxes'
import { conversionFailed } from '../errors.ts'

/** Longest run of text, and deepest nesting. */
const LONGEST_TEXT = 1 << 28
const DEEPEST = 200

/** Takes the parts of an XML document; names come without their prefix. */
export interface XmlHandler {
  /** `qualified` is the name with its prefix. */
  open(name: string, attributes: Readonly<Record<string, string>>, qualified: string): void
  /** Markup within the element that is open is text, with its tags. */
  readonly isVerbatim?: boolean
  /** `text` is the complete text directly in the element, joined from all pieces. */
  close(name: string, text: string): void
}

/**
 * Reads an XML document without a document type: only the five entities of XML itself are known.
 *
 * @throws CONVERSION_FAILED
 */
export async function parseXml(path: string, handler: XmlHandler): Promise<void> {
  for await (const _ of pieces(path, handler));
}

/** The same in pieces, so that the handler's result can be taken between them. */
parseXml.pieces = pieces

async function* pieces(path: string, handler: XmlHandler): AsyncGenerator<void> {
  const parser = new SaxesParser({ xmlns: false, position: true })
  const texts: string[] = []
  parser.on('error', (error) => {
    throw conversionFailed({ reason: `the XML is damaged: ${error.message.slice(0, 200)}` })
  })
  parser.on('doctype', () => {
    throw conversionFailed({ reason: 'XML with a document type is not accepted' })
  })
  const take = (text: string) => {
    if (texts.length === 0) return
    const all = texts.at(-1)! + text
    if (all.length > LONGEST_TEXT) throw conversionFailed({ reason: 'a text is too long' })
    texts[texts.length - 1] = all
  }
  let verbatim = 0
  parser.on('opentag', ({ name, attributes }) => {
    if (verbatim > 0 || handler.isVerbatim === true) {
      if (++verbatim > DEEPEST) throw conversionFailed({ reason: `the XML is nested deeper than ${DEEPEST}` })
      const shown = Object.entries(attributes).map(([key, value]) => ` ${key}="${value.replaceAll('"', '&quot;')}"`)
      take(`<${name}${shown.join('')}>`)
      return
    }
    if (texts.push('') > DEEPEST) throw conversionFailed({ reason: `the XML is nested deeper than ${DEEPEST}` })
    handler.open(localName(name), attributes, name)
  })
  parser.on('text', take)
  parser.on('cdata', take)
  parser.on('closetag', ({ name }) => {
    if (verbatim === 0) handler.close(localName(name), texts.pop() ?? '')
    else {
      verbatim--
      take(`</${name}>`)
    }
  })
  let decoder: InstanceType<typeof TextDecoder> | null = null
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 18 })) {
    decoder ??= new TextDecoder(encodingOf(chunk as Buffer))
    parser.write(decoder.decode(chunk as Buffer, { stream: true }))
    yield
  }
  parser.write(decoder?.decode() ?? '')
  parser.close()
}

/** The encoding in the declaration; UTF-8 when absent or UTF-16, because UTF-16 files are converted before. */
function encodingOf(head: Buffer): string {
  const said = /^\s*<\?xml[^>]*encoding\s*=\s*["']([\w.:-]+)["']/.exec(head.toString('latin1', 0, 300))?.[1] ?? 'utf-8'
  try {
    const { encoding } = new TextDecoder(said)
    return encoding.startsWith('utf-16') ? 'utf-8' : encoding
  } catch {
    throw conversionFailed({ reason: `its encoding ${said} is not known` })
  }
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}
