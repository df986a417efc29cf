import { RestError } from '../rest/errors.ts'
import { badMapFile } from './errors.ts'
import { drawGlyphs, faceName } from './glyph-drawing.ts'
import { checkIcon, makeSheet } from './sprites.ts'
import type { DrawingCall, DrawingMethods, DrawingReply } from './drawing-process.ts'

/** Bytes of memory at which the process exits, and milliseconds between two checks. */
const MOST_MEMORY = 1536 * 1024 * 1024
const LOOK_MS = 100
const HINT = 'Send a TrueType, OpenType or WOFF file with one face and of at most 6 MiB; WOFF2 is not read.'

const methods: DrawingMethods = {
  faceName: (content) => fontWork(() => faceName(content)),
  drawGlyphs: ({ files, start, count }) => fontWork(() => drawGlyphs(files, start, count)),
  checkIcon,
  makeSheet: ({ icons, ratio }) => makeSheet(icons, ratio),
}

function fontWork<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw badMapFile('font', error instanceof Error ? error.message.slice(0, 200) : 'it cannot be read', HINT)
  }
}

async function replyTo({ id, name, input }: DrawingCall): Promise<DrawingReply> {
  try {
    return { id, output: await methods[name](input as never) }
  } catch (error) {
    if (!(error instanceof RestError)) return { id, failure: error instanceof Error ? error.message : String(error) }
    const { status, code, message, details, hint } = error
    return { id, refusal: { status, code, message, details: typeof details === 'string' ? details : null, hint } }
  }
}

process.on('message', (call: DrawingCall) => {
  void replyTo(call).then((reply) => process.send?.(reply))
})
process.on('disconnect', () => process.exit())
setInterval(() => {
  if (process.memoryUsage.rss() > MOST_MEMORY) process.exit(1)
}, LOOK_MS)
process.send?.('ready')
