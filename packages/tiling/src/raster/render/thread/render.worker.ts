import { parentPort } from 'node:worker_threads'
import { toPlainError } from '@terrane/core'
import { LRUCache } from 'lru-cache'
import { encodePicture } from '../encode.ts'
import { openRenderer } from '../renderer.ts'
import type { RasterRenderer } from '../renderer.ts'
import { describeRaster } from '../describe.ts'
import { boxView, fittedSize, tileView, wholeView } from '../view.ts'
import type { View } from '../view.ts'
import type { FromRenderThread, RenderRequest, ToRenderThread } from './messages.ts'
import { HeadSource, SharedSource } from './shared-source.ts'

/** Rasters whose headers and decoded blocks are kept. */
const KEPT = 6
const CACHE_BYTES = 24 * 1024 * 1024
/** Headers mostly lie at the beginning: one read instead of a dozen. */
const HEAD_BYTES = 1 << 16

interface Opened {
  readonly source: SharedSource
  readonly renderer: RasterRenderer
}

const opened = new LRUCache<string, Opened>({ max: KEPT })

parentPort?.on('message', (message: ToRenderThread) => {
  void answer(message).then((reply) => parentPort?.postMessage(reply))
})

async function answer({ job, key, bytes, request }: ToRenderThread): Promise<FromRenderThread> {
  try {
    return { type: 'done', job, result: await work(open(key, bytes, job).renderer, request) }
  } catch (error) {
    return { type: 'failed', job, error: toPlainError(error) }
  }
}

function open(key: string, bytes: number, job: number): Opened {
  const known = opened.get(key)
  if (known) {
    known.source.job = job
    return known
  }
  const source = new SharedSource(bytes)
  source.job = job
  const head = new HeadSource(source, HEAD_BYTES)
  const made = {
    source,
    renderer: openRenderer(head, { cacheBytes: CACHE_BYTES, onPlan: (spans) => source.fetch(spans) }),
  }
  opened.set(key, made)
  return made
}

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
