import { Map as MapLibreMap } from 'maplibre-gl'
import type { MapGeoJSONFeature, StyleSpecification } from 'maplibre-gl'
import { PMTiles, type RangeResponse, type Source } from 'pmtiles'
import { addControls, startEngine } from '../map/engine-basics.ts'

/** `map.json` of a static page. */
export interface PageMap {
  readonly style: StyleSpecification
  /** Titles of the layers whose features a click shows, by the id of their source. */
  readonly titles: Readonly<Record<string, string>>
}

/** Bytes of a file on any host: hosts without byte ranges send the whole file once. */
class AnyHost implements Source {
  readonly #url: string
  #whole: Promise<ArrayBuffer> | null = null

  constructor(url: string) {
    this.#url = url
  }

  getKey(): string {
    return this.#url
  }

  async getBytes(offset: number, length: number): Promise<RangeResponse> {
    if (!this.#whole) {
      const response = await fetch(this.#url, { headers: { range: `bytes=${offset}-${offset + length - 1}` } })
      if (response.status === 206) return { data: await response.arrayBuffer() }
      if (!response.ok) throw new Error(`${this.#url} was answered with ${response.status}`)
      this.#whole ??= response.arrayBuffer()
    }
    return { data: (await this.#whole).slice(offset, offset + length) }
  }
}

/** Draws the map of a static page; everything it needs lies beside the page. */
async function show(): Promise<void> {
  const { style, titles } = (await (await fetch('map.json')).json()) as PageMap
  const archives = startEngine(new URL('maplibre-worker.js', location.href).href)
  for (const source of Object.values(style.sources)) {
    const [, path] = /^pmtiles:\/\/(?!https?:)(.+)$/.exec(('url' in source && source.url) || '') ?? []
    if (path === undefined || !('url' in source)) continue
    const url = new URL(path, location.href).href
    archives.add(new PMTiles(new AnyHost(url)))
    source.url = `pmtiles://${url}`
  }
  const map = new MapLibreMap({ container: 'map', style, attributionControl: false })
  addControls(map)
  map.on('idle', () => (document.body.dataset['drawn'] = 'true'))
  const card = document.querySelector<HTMLElement>('#feature')!
  map.on('click', ({ point }) => {
    const found = map.queryRenderedFeatures(point).find(({ source }) => titles[source] !== undefined)
    card.hidden = found === undefined
    if (found) card.replaceChildren(...factsOf(found, titles[found.source] ?? ''))
  })
}

const element = (name: string, text: string) => Object.assign(document.createElement(name), { textContent: text })

/** Texts only: a value of a table is never read as HTML. */
function factsOf({ properties }: MapGeoJSONFeature, title: string): HTMLElement[] {
  const list = document.createElement('dl')
  for (const [name, value] of Object.entries(properties))
    if (value !== null && value !== '') list.append(element('dt', name), element('dd', String(value)))
  return [element('strong', title), list]
}

void show().catch((error: unknown) => {
  const card = document.querySelector<HTMLElement>('#feature')!
  card.hidden = false
  card.textContent = `The map cannot be shown: ${error instanceof Error ? error.message : String(error)}`
})
