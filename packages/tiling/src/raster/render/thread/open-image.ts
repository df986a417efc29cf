import { LRUCache } from 'lru-cache'
import { createBlockCache } from '../blocks.ts'
import type { LayerFile } from '../file-layer.ts'
import type { Layer } from '../layer.ts'
import { mosaicLayer } from '../mosaic-layer.ts'
import { openLayerFile, rendererOf, wholeFileLayer } from '../renderer.ts'
import type { RasterRenderer } from '../renderer.ts'
import { sceneLayer } from '../scene-layer.ts'
import type { ImagePart, ReadEvent, RenderJob } from './messages.ts'
import { HeadSource, SharedSource } from './shared-source.ts'

/** Files and parts of images whose headers are kept. */
const KEPT = 96
/** Memory for decoded blocks of all files. */
const CACHE_BYTES = 144 * 1024 * 1024
/** Headers mostly lie at the beginning: one read instead of a dozen. */
const HEAD_BYTES = 1 << 16

type FileEntry = RenderJob['files'][number]

/** Opens images, and keeps the files and parts used last. @param emit asks another thread for bytes */
export class ImageOpener {
  readonly #emit: (event: ReadEvent) => void
  readonly #files = new LRUCache<string, LayerFile>({ max: KEPT })
  readonly #layers = new LRUCache<string, Layer>({ max: KEPT })
  readonly #cache = createBlockCache(CACHE_BYTES)

  constructor(emit: (event: ReadEvent) => void) {
    this.#emit = emit
  }

  /** @throws what `openRenderer` and `sceneLayer` throw */
  open({ files, plan: { parts, selection } }: Omit<RenderJob, 'request'>): RasterRenderer {
    const [first] = parts
    if (parts.length === 1 && first?.boxes === null) return rendererOf(this.#part(first, files))
    const open = parts.map((part) => ({ boxes: part.boxes ?? [], open: () => this.#part(part, files) }))
    return rendererOf(mosaicLayer(open, selection))
  }

  #part({ scene, files: numbers }: ImagePart, all: readonly FileEntry[]): Layer {
    const entries = numbers.map((number) => all[number] as FileEntry)
    const key = JSON.stringify([scene, entries])
    const known = this.#layers.get(key)
    if (known) return known
    const files = entries.map((entry) => this.#file(entry))
    const layer = scene === null ? wholeFileLayer(files[0] as LayerFile) : sceneLayer(files, scene)
    this.#layers.set(key, layer)
    return layer
  }

  #file(entry: FileEntry): LayerFile {
    const known = this.#files.get(entry.key)
    if (known) return known
    const source = new SharedSource(entry, this.#emit)
    const head = new HeadSource(source, HEAD_BYTES)
    const file = openLayerFile(head, { cache: this.#cache, onPlan: (spans) => source.fetch(spans) })
    this.#files.set(entry.key, file)
    return file
  }
}
