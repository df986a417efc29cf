import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import {
  CLASS_METHODS,
  PALETTES,
  colorsOf,
  type ClassMethod,
  type Coloring,
  type VectorLayer,
} from '@terrane/map-style'
import { Loading, ProblemNotice } from '../../components/basics.tsx'
import { Histogram } from '../../components/histogram.tsx'
import { useAction } from '../../lib/use-action.ts'
import { useResource } from '../../lib/use-resource.ts'
import { layerColor } from '../../map/colors.ts'
import { categoryColoring } from '../../map/first-coloring.ts'
import { readStats } from '../../map/live.ts'
import { classify, readDistribution, type ClassWish } from '../../map/new-layer.ts'
import { Choice, ColorInput, Option, stripes } from './controls.tsx'
import type { OptionsProps } from './options.ts'

type Numbers = Coloring & { readonly by: 'number' }

const METHODS: Readonly<Record<ClassMethod, string>> = {
  quantile: 'Equal count',
  equal: 'Equal width',
  natural: 'Natural breaks',
  log: 'Logarithmic',
  manual: 'Manual',
}
const COUNTS = ['2', '3', '4', '5', '6', '7', '8'] as const

/** One colour, or colours by a property: classes of numbers, or categories. */
export function Colors(props: OptionsProps): JSX.Element {
  const { project, layer, fields, onChange } = props
  const { busy, problem, run } = useAction()
  const { color, table } = layer
  const paint = usePaint(layer, onChange)
  // A choice made during the classification for an earlier choice is based on the earlier one.
  const wished = useRef<ClassWish | null>(null)
  const classes = (property: string, change: Partial<ClassWish>) => {
    const wish = { ...(wished.current ?? wishOf(color)), ...change }
    wished.current = wish
    const isLast = () => wished.current === wish
    void run(async () => {
      const next = await classify(project.ref, { table, property }, wish)
      if (isLast()) paint(next)
    }).then(() => isLast() && (wished.current = null))
  }
  const choose = (property: string) => {
    wished.current = null
    if (property === '') paint({ by: 'one', color: layerColor(table) })
    // Manual class limits of one column are not used for another.
    else if (fields[property] === 'Number')
      classes(property, wishOf(color).method === 'manual' ? { method: 'quantile', count: 5 } : {})
    else void run(async () => paint(categoryColoring(property, await readStats(project.ref, table, property), 'vivid')))
  }
  const names = [['', 'one colour'] as const, ...Object.keys(fields)]
  return (
    <>
      <Option label="Colour by">
        <Choice label="Colour by" value={color.by === 'one' ? '' : color.property} options={names} onChoose={choose} />
        {color.by === 'one' && (
          <ColorInput
            label="Colour"
            value={color.color}
            onColor={(next) => paint({ by: 'one', color: next }, 'color')}
          />
        )}
      </Option>
      {color.by === 'number' && (
        <Classes {...props} color={color} onClasses={(change) => classes(color.property, change)} />
      )}
      {color.by === 'number' && (
        <Palettes
          {...color}
          onPalette={(palette) => paint({ ...color, palette })}
          onReverse={(isReversed) => paint({ ...color, isReversed })}
        />
      )}
      {color.by === 'category' && <Palettes {...color} onPalette={(palette) => paint({ ...color, palette })} />}
      {busy && <Loading what="Counting all rows" />}
      {problem && <ProblemNotice problem={problem} />}
    </>
  )
}

/**
 * Applies colours to the layer as it is when its values have been counted, unless the options were closed meanwhile.
 */
function usePaint(layer: VectorLayer, onChange: OptionsProps['onChange']): (next: Coloring, key?: string) => void {
  const latest = useRef<(next: Coloring, key?: string) => void>(() => {})
  latest.current = (next, key) => onChange({ ...layer, color: next }, key)
  useEffect(() => () => void (latest.current = () => {}), [])
  return (next, key) => latest.current(next, key)
}

function wishOf(color: Coloring): ClassWish {
  if (color.by !== 'number') return { method: 'quantile', count: 5, palette: 'viridis', isReversed: false, starts: [] }
  const { method, starts, palette, isReversed } = color
  return { method, count: Math.max(2, starts.length), palette, isReversed, starts }
}

function Classes(
  props: OptionsProps & { color: Numbers; onClasses: (change: Partial<ClassWish>) => void },
): JSX.Element {
  const { project, layer, color, onClasses } = props
  const { property, method, starts } = color
  const told = useResource(`numbers ${project.ref} ${layer.table} ${property}`, () =>
    readDistribution(project.ref, layer.table, property),
  )
  const methods = CLASS_METHODS.map((name) => [name, METHODS[name]] as const)
  const low = told.value?.low ?? 1
  return (
    <>
      <Option label="Classes">
        <Choice
          label="Method"
          value={method}
          options={methods}
          isOff={(name) => name === 'log' && low <= 0}
          onChoose={(name) => onClasses({ method: name })}
        />
        <Choice
          label="Number of classes"
          value={String(Math.max(2, starts.length)) as (typeof COUNTS)[number]}
          options={COUNTS}
          isDisabled={method === 'manual'}
          onChoose={(count) => onClasses({ count: Number(count) })}
        />
      </Option>
      {told.value && <ColoredHistogram parts={told.value.histogram} color={color} low={low} />}
      {method === 'manual' && <Manual starts={starts} onStarts={(next) => onClasses({ starts: next })} />}
    </>
  )
}

/** Manual limits of classes. */
function Manual({
  starts,
  onStarts,
}: {
  starts: readonly number[]
  onStarts: (starts: readonly number[]) => void
}): JSX.Element {
  const [entered, enter] = useState<string | null>(null)
  const take = () => {
    const found = (entered ?? '')
      .split(/[\s;,]+/)
      .filter(Boolean)
      .map(Number)
      .filter(Number.isFinite)
    const sorted = [...new Set(found)].toSorted((a, b) => a - b).slice(0, COUNTS.length + 1)
    enter(null)
    if (sorted.length > 0) onStarts(sorted)
  }
  return (
    <Option label="Lower limits">
      <input
        class="input"
        aria-label="Lower limits of the classes"
        value={entered ?? starts.join('  ')}
        onInput={(event) => enter(event.currentTarget.value)}
        onChange={take}
      />
    </Option>
  )
}

/** Frequencies of numbers as bars, each in its colour on the map. */
function ColoredHistogram(props: { parts: readonly number[]; color: Numbers; low: number }): JSX.Element | null {
  const { parts, color, low } = props
  if (parts.length === 0) return null
  const { starts, high, palette, isReversed, property } = color
  const colors = colorsOf(palette, starts.length, isReversed)
  const bars = parts.map((count, at) => {
    const value = low + ((high - low) * (at + 0.5)) / parts.length
    const last = starts.findLastIndex((start) => start <= value)
    return { at, count, fill: colors[Math.max(0, last)] }
  })
  return <Histogram of={property} bars={bars} width={parts.length} />
}

function Palettes(props: {
  by: 'number' | 'category'
  palette: string
  isReversed?: boolean
  onPalette: (palette: string) => void
  onReverse?: (isReversed: boolean) => void
}): JSX.Element {
  const { by, palette, isReversed = false, onPalette, onReverse } = props
  const names = Object.keys(PALETTES).filter((name) => (PALETTES[name]!.kind === 'category') === (by === 'category'))
  return (
    <fieldset class="palettes">
      <legend class="visually-hidden">Palette</legend>
      {names.map((name) => (
        <button
          key={name}
          type="button"
          aria-pressed={palette === name}
          aria-label={name}
          title={name}
          style={stripes(colorsOf(name, 7, isReversed))}
          onClick={() => onPalette(name)}
        />
      ))}
      {onReverse && (
        <label class="check small">
          <input type="checkbox" checked={isReversed} onChange={(event) => onReverse(event.currentTarget.checked)} />
          Reversed
        </label>
      )}
    </fieldset>
  )
}
