import { readAoi, boxRing } from '@terrane/core'
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Map as MapLibreMap } from 'maplibre-gl'
import { Button, Segmented } from '../components/basics.tsx'
import { Icon } from '../components/icon.tsx'
import { formatNumber } from '../lib/format.ts'
import { useStore } from '../lib/store.ts'
import { isDark } from '../lib/theme.ts'
import { showArea } from '../map/area-layer.ts'
import { AreaDrawing, polygonsIn, type Polygons } from '../map/draw.ts'
import { MapCanvas } from '../map/map-canvas.tsx'
import { boxOf } from '../map/box.ts'
import { lookAt } from '../map/look-at.ts'
import { useBackdrop } from '../map/use-backdrop.ts'

export interface AreaInputProps {
  readonly id: string
  readonly projectRef: string
  /** GeoJSON as text. */
  readonly value: string
  readonly required: boolean
  readonly invalid: boolean
  readonly onChange: (value: string) => void
}

type Mode = 'look' | 'rectangle' | 'polygon' | 'edit'

const SIDES = ['west', 'south', 'east', 'north'] as const

/** An area, drawn on a map, pasted as GeoJSON or entered as a box; all three show the same area. */
export function AreaInput({ id, projectRef, value, required, invalid, onChange }: AreaInputProps): JSX.Element {
  const polygons = polygonsIn(value)
  const { map, setMap, mode, setMode } = useDrawing(projectRef, value, polygons, onChange)
  return (
    <div class="area-field">
      <MapCanvas label="Map to draw the area on" projectRef={projectRef} onMap={setMap}>
        <div class="over">
          <Segmented label="Drawing" value={mode} onChange={setMode} options={modesFor(polygons)} />
          {polygons.length > 0 && (
            <Button
              kind="small icon"
              aria-label="Clear the area"
              onClick={() => {
                setMode('look')
                onChange('')
              }}
            >
              <Icon name="trash" />
            </Button>
          )}
        </div>
        {mode !== 'look' && <div class="hint-bar">{HINTS[mode]}</div>}
      </MapCanvas>
      <div class="area-side">
        <BoxInputs
          onBox={(box) => {
            setMode('look')
            onChange(box)
            if (map) lookAtArea(map, box)
          }}
        />
        <textarea
          id={id}
          class="textarea"
          spellcheck={false}
          value={value}
          placeholder='Paste GeoJSON: {"type": "Polygon", "coordinates": …}'
          aria-required={required}
          aria-invalid={invalid}
          aria-describedby={`${id}-help`}
          onInput={(event) => {
            setMode('look')
            onChange(event.currentTarget.value)
          }}
          onChange={(event) => map && lookAtArea(map, event.currentTarget.value)}
        />
        <p class="small dim" role="status">
          {describe(value)}
        </p>
      </div>
    </div>
  )
}

/** The map of an area with its drawing tool; the tool displays the area only during editing. */
function useDrawing(projectRef: string, value: string, polygons: Polygons, onChange: (value: string) => void) {
  const [map, setMap] = useState<MapLibreMap | null>(null)
  const [mode, setShownMode] = useState<Mode>('look')
  const drawing = useRef<AreaDrawing | null>(null)
  const latest = useRef({ polygons, onChange })
  latest.current = { polygons, onChange }
  const dark = useStore(isDark)

  useEffect(() => {
    if (!map) return
    drawing.current = new AreaDrawing(map)
    return () => {
      drawing.current?.stop()
      drawing.current = null
    }
  }, [map])
  useBackdrop(map, projectRef, 'area-fill', { stay: polygons.length > 0 })
  useEffect(() => {
    if (map) showArea(map, mode === 'edit' ? [] : polygons, dark)
  }, [map, value, mode, dark])
  // Moves the map to a pasted area; a drawn one is already visible.
  useEffect(() => {
    if (map && mode === 'look' && polygons.length > 0) lookAtArea(map, value)
  }, [map])

  const setMode = (next: Mode) => {
    setShownMode(next)
    const tool = drawing.current
    if (!tool) return
    if (next === 'look') tool.stop()
    else if (next === 'edit') tool.edit(latest.current.polygons, (edited) => latest.current.onChange(textOf(edited)))
    else {
      tool.draw(next, (drawn) => {
        latest.current.onChange(textOf([...latest.current.polygons, drawn]))
        setShownMode('look')
      })
    }
  }
  return { map, setMap, mode, setMode }
}

function modesFor(polygons: Polygons): readonly { readonly value: Mode; readonly label: string }[] {
  return [
    { value: 'look', label: 'Pan' },
    { value: 'rectangle', label: 'Rectangle' },
    { value: 'polygon', label: 'Polygon' },
    ...(AreaDrawing.canEdit(polygons) ? [{ value: 'edit' as const, label: 'Edit' }] : []),
  ]
}

const HINTS: Readonly<Record<Exclude<Mode, 'look'>, string>> = {
  rectangle: 'Click one corner, then the opposite one',
  polygon: 'Click each corner; close it at the first one or with Enter',
  edit: 'Drag corners, or the area itself; choose Pan when done',
}

function BoxInputs({ onBox }: { onBox: (geojson: string) => void }): JSX.Element {
  const [sides, setSides] = useState<readonly string[]>(['', '', '', ''])
  const numbers = sides.map((text) => (text.trim() === '' ? Number.NaN : Number(text)))
  const [west = 0, south = 0, east = 0, north = 0] = numbers
  const usable = numbers.every(Number.isFinite) && south < north && west !== east
  return (
    <fieldset class="fieldset">
      <legend class="small">Box in degrees</legend>
      <div class="box-inputs">
        {SIDES.map((side, i) => (
          <label key={side}>
            {side}
            <input
              class="input"
              inputMode="decimal"
              value={sides[i] ?? ''}
              onInput={(event) => setSides(sides.with(i, event.currentTarget.value))}
            />
          </label>
        ))}
      </div>
      <Button kind="small" disabled={!usable} onClick={() => onBox(textOf([[boxRing([west, south, east, north])]]))}>
        Use this box
      </Button>
    </fieldset>
  )
}

function describe(text: string): string {
  if (text.trim() === '') return 'No area yet: draw one, paste GeoJSON, or enter a box.'
  try {
    const aoi = readAoi(JSON.parse(text), { maxVertices: 1e6, maxAreaKm2: Number.MAX_VALUE })
    const digits = aoi.areaKm2 < 10 ? 2 : 0
    return `${formatNumber(Number(aoi.areaKm2.toFixed(digits)))} km², ${formatNumber(aoi.vertices)} positions`
  } catch {
    return 'This is not an area yet.'
  }
}

function textOf(polygons: Polygons): string {
  const rounded = polygons.map((rings) => rings.map((ring) => ring.map(([lng = 0, lat = 0]) => [trim(lng), trim(lat)])))
  return JSON.stringify(
    rounded.length === 1
      ? { type: 'Polygon', coordinates: rounded[0] }
      : { type: 'MultiPolygon', coordinates: rounded },
  )
}

/** Seven decimal digits are about a centimetre. */
function trim(degrees: number): number {
  return Math.round(degrees * 1e7) / 1e7
}

function lookAtArea(map: MapLibreMap, text: string): void {
  const box = boxOf(polygonsIn(text).flat(2))
  if (box) lookAt(map, box, 15)
}
