import { Fragment, type JSX } from 'preact'
import { CLUSTER_COLOR, heatColors } from '@terrane/map-style/colors'
import { legendOf, type LegendEntry, type MapLayer, type VectorLayer } from '@terrane/map-style'
import { formatNumber, formatRange, formatRows } from '../../lib/format.ts'
import { Swatch } from '../../map/swatch.tsx'

/** The legend of the visible layers, in the colours and opacity of the map. */
export function Legend({ layers }: { layers: readonly MapLayer[] }): JSX.Element | null {
  const shown = layers.filter((layer): layer is VectorLayer => layer.kind === 'vector' && layer.isShown)
  if (shown.length === 0) return null
  return (
    <details class="map-legend card" open={innerWidth > 820} aria-label="Legend">
      <summary class="small">Legend</summary>
      {shown.map((layer) => (
        <Fragment key={layer.id}>
          {layer.draw === 'heat' && <HeatLegend layer={layer} />}
          {hasColors(layer) && <LayerLegend layer={layer} />}
        </Fragment>
      ))}
    </details>
  )
}

/** Whether a legend lists colours; a heat map has them only for the areas and lines of a mixed layer. */
function hasColors({ draw, geometry, color }: VectorLayer): boolean {
  return draw !== 'heat' || (geometry === 'mixed' && color.by !== 'one')
}

function HeatLegend({ layer: { title, color } }: { layer: VectorLayer }): JSX.Element {
  return (
    <p class="legend-one small" title="From few points to many">
      <span
        class="mark"
        style={{ background: `linear-gradient(90deg, transparent, ${heatColors(color).join(', ')})` }}
        aria-hidden="true"
      />
      <span class="truncate">{title}, from few to many</span>
    </p>
  )
}

function LayerLegend({ layer }: { layer: VectorLayer }): JSX.Element {
  const { color, title, opacity, geometry, draw, filters } = layer
  const swatch = (shade: string) => (
    <Swatch color={shade} form={geometry === 'mixed' ? 'area' : geometry} opacity={opacity} />
  )
  if (color.by === 'one')
    return (
      <p class="legend-one small">
        {swatch(draw === 'cluster' ? CLUSTER_COLOR : color.color)} <span class="truncate">{title}</span>
      </p>
    )
  const entries = legendOf(color)
  const all = color.by === 'number' ? ([color.starts[0] ?? 0, color.high] as const) : ([0, 0] as const)
  return (
    <div class="legend-layer">
      <strong class="small truncate">{title}</strong>
      <span class="small dim truncate">
        {color.property}
        {filters.length > 0 && ', counted without the filter'}
      </span>
      <ul class="legend" aria-label={`Colours by ${color.property}`}>
        {entries.map((entry, i) => (
          <li key={i} title={formatRows(entry.rows)}>
            {swatch(entry.color)}
            <span class="truncate nums">{textOf(entry, all)}</span>
            <span class="small faint nums">{formatNumber(entry.rows)}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}

function textOf({ of }: LegendEntry, all: readonly [number, number]): string {
  if (of === 'others') return 'other values'
  if (of === 'missing') return 'no value'
  if ('from' in of) return formatRange(of.from, of.to, all)
  if (typeof of.value === 'number') return formatRange(of.value, of.value, [of.value, of.value])
  return of.value === '' ? '(empty)' : String(of.value)
}
