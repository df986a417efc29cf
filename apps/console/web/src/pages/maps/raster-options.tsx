import type { JSX } from 'preact'
import type { MapLayer } from '@terrane/map-style'
import { Button, ProblemNotice } from '../../components/basics.tsx'
import type { Project } from '../../lib/project.ts'
import { Link } from '../../lib/router.tsx'
import { embeddingOf, formOf } from '../../lib/task-for-file.ts'
import { useResource } from '../../lib/use-resource.ts'
import { readRaster, type RasterInfo } from '../../map/new-layer.ts'
import { Choice, NumberInput, Option } from './controls.tsx'

type RasterLayer = Extract<MapLayer, { readonly kind: 'raster' }>

/** Colormap names of `/raster/v1`. */
const COLORMAPS = ['viridis', 'magma', 'cividis', 'turbo', 'ylgnbu', 'rdbu', 'spectral']
/** Beginning of the addresses of rasters in storage. */
const STORED = 'storage://'
const CHANNELS = ['Red', 'Green', 'Blue']
const SHOWN = [
  ['mix', 'Three bands (RGB)'],
  ['one', 'One band'],
] as const

interface RasterProps {
  readonly layer: RasterLayer
  readonly onChange: (layer: RasterLayer, key?: string) => void
}

/** Bands, stretch and colormap of a raster. */
export function RasterOptions(props: RasterProps & { project: Project }): JSX.Element {
  const { project, layer, onChange } = props
  const info = useResource(`raster ${project.ref} ${layer.url}`, (signal) => readRaster(project.ref, layer.url, signal))
  const { bands, colormap } = layer
  const names = bandNames(info.value)
  const mix = (shown: 'mix' | 'one') => {
    const next = shown === 'mix' ? [1, 2, 3] : [1]
    onChange({
      ...layer,
      bands: next,
      stretch:
        layer.stretch.length === 0 ? [] : next.map((band) => limitsOf(info.value, band) ?? rangeOfBand(layer, band)),
    })
  }
  const byHistogram = () =>
    onChange({ ...layer, stretch: bands.map((band, i) => limitsOf(info.value, band) ?? rangeOf(layer, i)) })
  return (
    <>
      {info.problem && <ProblemNotice problem={info.problem} onRetry={info.reload} />}
      {names.length >= 3 && (
        <Option label="Shown as">
          <Choice label="Shown as" value={bands.length === 3 ? 'mix' : 'one'} options={SHOWN} onChoose={mix} />
        </Option>
      )}
      {bands.map((_, at) => (
        <Band key={at} {...props} at={at} info={info.value} />
      ))}
      {bands.length === 1 && (
        <Option label="Colours">
          <Choice
            label="Colours"
            value={colormap ?? ''}
            options={[['', 'greys'], ...COLORMAPS]}
            onChoose={(name) => onChange({ ...layer, colormap: name || null })}
          />
        </Option>
      )}
      {info.value?.shown.rescale && (
        <Button kind="small" onClick={byHistogram}>
          Stretch by the histogram
        </Button>
      )}
      {layer.url.startsWith(STORED) && (
        <Link class="small" href={formOf(project.ref, embeddingOf(layer.url.slice(STORED.length)))}>
          Find similar places
        </Link>
      )}
    </>
  )
}

/** One band, with its darkest and brightest values. */
function Band({ layer, at, info, onChange }: RasterProps & { at: number; info: RasterInfo | undefined }): JSX.Element {
  const { bands, stretch } = layer
  const channel = bands.length === 3 ? CHANNELS[at]! : 'Band'
  const [dark, bright] = rangeOf(layer, at)
  const set = (range: readonly [number, number]) => {
    if (range[0] < range[1])
      onChange({ ...layer, stretch: bands.map((_, i) => (i === at ? range : rangeOf(layer, i))) })
  }
  const options = bandNames(info).map((name, i) => [String(i + 1), name] as const)
  const choose = (name: string) => {
    const band = Number(name)
    const range = limitsOf(info, band) ?? rangeOfBand(layer, band)
    const ranges = bands.map((_, i) => (i === at ? range : rangeOf(layer, i)))
    onChange({ ...layer, bands: bands.with(at, band), stretch: stretch.length === 0 ? [] : ranges })
  }
  return (
    <Option label={channel}>
      <Choice label={channel} value={String(bands[at])} options={options} onChoose={choose} />
      {stretch.length > 0 && (
        <>
          <NumberInput label={`${channel}, minimum`} value={dark} onNumber={(value) => set([value, bright])} />
          <NumberInput label={`${channel}, maximum`} value={bright} onNumber={(value) => set([dark, value])} />
        </>
      )}
    </Option>
  )
}

function rangeOf({ stretch }: RasterLayer, at: number): readonly [number, number] {
  return stretch[at] ?? stretch[0] ?? [0, 255]
}

/** The current range of a band in the layer. */
function rangeOfBand(layer: RasterLayer, band: number): readonly [number, number] {
  return rangeOf(layer, Math.max(0, layer.bands.indexOf(band)))
}

/** The range from a band's histogram; undefined without one. */
function limitsOf(info: RasterInfo | undefined, band: number): readonly [number, number] | undefined {
  return info?.shown.rescale?.[info.shown.bidx.indexOf(band)]
}

function bandNames(info: RasterInfo | undefined): string[] {
  return Array.from({ length: info?.count ?? 0 }, (_, i) => info?.band_descriptions[i]?.[1] || `Band ${i + 1}`)
}
