import { serveThread } from '@terrane/core/threads'
import { LRUCache } from 'lru-cache'
import { encodePicture } from '../encode.ts'
import { openRenderer } from '../renderer.ts'
import type { RasterRenderer } from '../renderer.ts'
import { describeRaster } from '../describe.ts'
import { boxView, fittedSize, tileView, wholeView } from '../view.ts'
import type { View } from '../view.ts'
import type { ReadEvent, RenderMethods, RenderRequest } from './messages.ts'
import { HeadSource, SharedSource } from './shared-source.ts'

/** Rasters whose headers and decoded blocks are kept. */
const KEPT = 6
const CACHE_BYTES = 24 * 1024 * 1024
/** Headers mostly lie at the beginning: one read instead of a dozen. */
const HEAD_BYTES = 1 << 16

serveThread<null, RenderMethods, ReadEvent>((_, emit) => {
  const opened = new LRUCache<string, RasterRenderer>({ max: KEPT })
  const open = (key: string, bytes: number): RasterRenderer => {
    const source = new SharedSource(bytes, emit)
    const head = new HeadSource(source, HEAD_BYTES)
    const renderer = openRenderer(head, { cacheBytes: CACHE_BYTES, onPlan: (spans) => source.fetch(spans) })
    opened.set(key, renderer)
    return renderer
  }
  return { render: ({ key, bytes, request }) => work(opened.get(key) ?? open(key, bytes), request) }
})

async function work(renderer: RasterRenderer, request: RenderRequest): Promise<unknown> {
  if (request.type === 'describe') return describeRaster(renderer)
  const view = viewOf(renderer, request)
  const picture = await renderer.render(view, request.style)
  return picture && (await encodePicture(picture, request.format, request.mask))
}

function viewOf(renderer: RasterRenderer, request: Exclude<RenderRequest, { type: 'describe' }>): View {
  if (request.type === 'tile') return tileView(request.z, request.x, request.y, request.size, request.buffer)
  if (request.type === 'box') return boxView(request.box, ...request.size)
  return wholeView(renderer.raster, ...(request.size ?? fittedSize(renderer.raster, request.maxSize)))
}
