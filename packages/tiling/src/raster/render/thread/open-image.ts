import { LRUCache } from 'lru-cache'
import { createBlockCache } from '../blocks.ts'
import type { LayerFile } from '../file-layer.ts'
import type { ByteSource } from '../../source.ts'
import type { FileNeed, Layer } from '../layer.ts'
import { mosaicLayer } from '../mosaic-layer.ts'
import { openLayerFile, rendererOf, wholeFileLayer } from '../renderer.ts'
import type { RasterRenderer } from '../renderer.ts'
import { sceneLayer } from '../scene-layer.ts'
import type { ImagePart, ReadEvent, RenderJob } from './messages.ts'
import { HeadSource, SharedSource } from './shared-source.ts'

/** Maximum number of files with cached headers: single files, and files in parts of images. */
const KEPT = 96
const KEPT_IN_PARTS = 384
/** Memory for decoded blocks of all files. */
const CACHE_BYTES = 144 * 1024 * 1024
/** Headers are mostly at the beginning of a file, so one read replaces about a dozen. */
const HEAD_BYTES = 1 << 16

type FileEntry = RenderJob['files'][number]

/** Opens images, and caches the most recently used files and parts. @param emit requests bytes from another thread */
export class ImageOpener {
  readonly #emit: (event: ReadEvent) => void
  readonly #files = new LRUCache<string, LayerFile>({ max: KEPT })
  readonly #layers = new LRUCache<string, { readonly layer: Layer; readonly files: number }>({
    maxSize: KEPT_IN_PARTS,
    sizeCalculation: ({ files }) => files,
  })
  readonly #cache = createBlockCache(CACHE_BYTES)
  readonly #sources = new WeakMap<ByteSource, SharedSource>()

  constructor(emit: (event: ReadEvent) => void) {
    this.#emit = emit
  }

  /** @throws what `openRenderer` and `sceneLayer` throw */
  open({ files, plan: { parts, selection } }: Omit<RenderJob, 'request'>): RasterRenderer {
    const [first] = parts
    if (parts.length === 1 && first?.boxes === null) return rendererOf(this.#part(first, files))
    const open = parts.map((part) => ({ ...part, open: () => this.#part(part, files) }))
    return rendererOf(mosaicLayer(open, selection, this.#fetch))
  }

  #part({ scene, files: numbers }: ImagePart, all: readonly FileEntry[]): Layer {
    const entries = numbers.map((number) => all[number] as FileEntry)
    const key = JSON.stringify([scene, entries])
    const known = this.#layers.get(key)
    if (known) return known.layer
    const files = this.#openFiles(entries)
    const layer = scene === null ? wholeFileLayer(files[0] as LayerFile) : sceneLayer(files, scene, this.#fetch)
    this.#layers.set(key, { layer, files: files.length })
    return layer
  }

  readonly #fetch = (needs: readonly FileNeed[]): void => {
    SharedSource.fetchTogether(
      needs.flatMap(({ source, spans }) => {
        const shared = this.#sources.get(source)
        return shared ? [{ source: shared, spans }] : []
      }),
    )
  }

  /** The first bytes of new files are read together. */
  #openFiles(entries: readonly FileEntry[]): LayerFile[] {
    const sources = entries.map((entry) => (this.#files.has(entry.key) ? null : new SharedSource(entry, this.#emit)))
    const fresh = sources.filter((source) => source !== null)
    SharedSource.fetchTogether(
      fresh.map((source) => ({ source, spans: [{ offset: 0, length: Math.min(HEAD_BYTES, source.size) }] })),
    )
    return entries.map((entry, i) => this.#file(entry, sources[i] ?? new SharedSource(entry, this.#emit)))
  }

  #file(entry: FileEntry, source: SharedSource): LayerFile {
    const known = this.#files.get(entry.key)
    if (known) return known
    const head = new HeadSource(source, HEAD_BYTES)
    const file = openLayerFile(head, { cache: this.#cache, onPlan: (spans) => source.fetch(spans) })
    this.#sources.set(head, source)
    this.#files.set(entry.key, file)
    return file
  }
}
