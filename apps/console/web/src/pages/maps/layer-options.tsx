import type { JSX } from 'preact'
import type { Filter, VectorLayer } from '@terrane/map-style'
import { Button, ProblemNotice } from '../../components/basics.tsx'
import { useResource } from '../../lib/use-resource.ts'
import { readTileJson } from '../../map/live.ts'
import { Colors } from './colors.tsx'
import { SAID, conditionsOf, fitted, type Fields, type OptionsProps } from './options.ts'
import { Choice, ColorInput, NumberInput, Option, Slider, TextInput } from './controls.tsx'

const DRAWN = [
  ['features', 'Points'],
  ['cluster', 'Clusters'],
  ['heat', 'Heat map'],
] as const

/** Drawing options of a table's layer. */
export function LayerOptions(props: Omit<OptionsProps, 'fields'>): JSX.Element {
  const { project, layer, onChange } = props
  const { table, geometry, draw, label } = layer
  const about = useResource(`tilejson ${project.ref} ${table}`, (signal) => readTileJson(project.ref, table, signal))
  const fields: Fields = about.value?.vector_layers[0]?.fields ?? {}
  const all = { ...props, fields }
  const write = (property: string) => onChange({ ...layer, label: property === '' ? null : { property, size: 12 } })
  return (
    <>
      {about.problem && <ProblemNotice problem={about.problem} onRetry={about.reload} />}
      {(geometry === 'point' || geometry === 'mixed') && (
        <Option label="Drawn as">
          <Choice
            label="Drawn as"
            value={draw}
            options={geometry === 'point' ? DRAWN : DRAWN.filter(([kind]) => kind !== 'cluster')}
            onChoose={(next) => onChange({ ...layer, draw: next })}
          />
        </Option>
      )}
      <Colors {...all} />
      <Sizes {...all} />
      <Option label="Labels">
        <Choice
          label="Labels"
          value={label?.property ?? ''}
          options={[['', 'none'], ...Object.keys(fields)]}
          onChoose={write}
        />
      </Option>
      <Filters {...all} />
    </>
  )
}

function Sizes({ layer, onChange }: OptionsProps): JSX.Element {
  const { draw, geometry, size, outline } = layer
  const isHeatMap = draw === 'heat' && geometry === 'point'
  const edge = (change: Partial<VectorLayer['outline']>) =>
    onChange({ ...layer, outline: { ...outline, ...change } }, 'outline')
  const what = geometry === 'line' ? 'Width' : 'Size'
  return (
    <>
      {geometry !== 'area' && (
        <Option label={what}>
          <Slider
            label={what}
            value={size}
            range={[0.5, 24, 0.5]}
            onSlide={(next) => onChange({ ...layer, size: next }, 'size')}
          />
        </Option>
      )}
      {geometry !== 'line' && !isHeatMap && (
        <Option label="Outline">
          <ColorInput label="Colour of the outline" value={outline.color} onColor={(color) => edge({ color })} />
          <Slider
            label="Width of the outline"
            value={outline.width}
            range={[0, 6, 0.2]}
            onSlide={(width) => edge({ width })}
          />
        </Option>
      )}
    </>
  )
}

const MOST_FILTERS = 5

function Filters({ layer, fields, onChange }: OptionsProps): JSX.Element {
  const { filters } = layer
  const names = Object.keys(fields)
  const set = (next: readonly Filter[], key?: string) => onChange({ ...layer, filters: next }, key)
  return (
    <fieldset class="layer-filters">
      <legend class="small dim">Only features where</legend>
      {filters.map((filter, i) => (
        <FilterRow
          key={i}
          filter={filter}
          fields={fields}
          onChange={(next) => set(filters.with(i, next), `filter ${i}`)}
          onRemove={() => set(filters.toSpliced(i, 1))}
        />
      ))}
      {names[0] !== undefined && filters.length < MOST_FILTERS && (
        <Button
          kind="small"
          onClick={() => {
            const first = fitted({ property: names[0]!, is: 'filled', value: '' }, fields[names[0]!])
            set([...filters, first])
          }}
        >
          Add a filter
        </Button>
      )}
    </fieldset>
  )
}

function FilterRow(props: {
  filter: Filter
  fields: Fields
  onChange: (next: Filter) => void
  onRemove: () => void
}): JSX.Element {
  const { filter, fields, onRemove } = props
  const { property, is, value } = filter
  const kind = fields[property]
  const change = (next: Partial<Filter>) =>
    props.onChange(fitted({ ...filter, ...next }, fields[next.property ?? property]))
  const hasValue = is !== 'empty' && is !== 'filled'
  return (
    <div class="filter">
      <Choice
        label="Property"
        value={property}
        options={Object.keys(fields)}
        onChoose={(next) => change({ property: next })}
      />
      <Choice
        label="Condition"
        value={is}
        options={conditionsOf(kind).map((one) => [one, SAID[one]] as const)}
        onChoose={(next) => change({ is: next })}
      />
      {hasValue && kind === 'Boolean' && (
        <Choice
          label="Value"
          value={String(value)}
          options={['true', 'false']}
          onChoose={(text) => change({ value: text === 'true' })}
        />
      )}
      {hasValue && kind === 'Number' && (
        <NumberInput label="Value" value={Number(value)} onNumber={(number) => change({ value: number })} />
      )}
      {hasValue && (kind === 'String' || kind === undefined) && (
        <TextInput label="Value" value={String(value)} onText={(text) => change({ value: text })} />
      )}
      <Button kind="small icon quiet" aria-label="Remove the filter" onClick={onRemove}>
        ×
      </Button>
    </div>
  )
}
