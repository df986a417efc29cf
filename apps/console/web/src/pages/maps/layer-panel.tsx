import type { JSX } from 'preact'
import { Button } from '../../components/basics.tsx'
import { useState } from 'preact/hooks'
import type { MapLayer } from '@terrane/map-style'
import { shownColors } from '@terrane/map-style/colors'
import { Icon } from '../../components/icon.tsx'
import type { Project } from '../../lib/project.ts'
import { NumberInput, Option, Slider, TextInput, stripes } from './controls.tsx'
import { LayerOptions } from './layer-options.tsx'
import { RasterOptions } from './raster-options.tsx'
import { MissingTables } from './missing-tables.tsx'

/** Changes the current layers. */
export type LayerChange = (edit: (now: readonly MapLayer[]) => readonly MapLayer[], key?: string) => void

function LayersHead({ onAdd }: { onAdd: () => void }): JSX.Element {
  return (
    <div class="row layers-head">
      <h2 id="layers-title">Layers</h2>
      <Button kind="small" onClick={onAdd}>
        <Icon name="plus" size={14} /> Add
      </Button>
    </div>
  )
}

interface PanelProps {
  readonly project: Project
  readonly layers: readonly MapLayer[]
  readonly selected: string | null
  readonly onSelect: (id: string | null) => void
  readonly onChange: LayerChange
  readonly onLook: (layer: MapLayer) => void
  readonly onAdd: () => void
}

/** The layers of a map from top to bottom: each can be shown, hidden, moved by pointer or keyboard, and opened. */
export function LayerPanel(props: PanelProps): JSX.Element {
  const { project, layers, selected, onSelect, onChange, onLook, onAdd } = props
  const [dragged, setDragged] = useState<string | null>(null)
  const move = (id: string, to: number) => {
    const from = layers.findIndex((layer) => layer.id === id)
    if (from < 0 || to < 0 || to >= layers.length || to === from) return
    onChange((now) => {
      const moved = now.filter((layer) => layer.id === id)
      return now.filter((layer) => layer.id !== id).toSpliced(to, 0, ...moved)
    }, `move ${id}`)
  }
  const replace = (next: MapLayer, key?: string) =>
    onChange(
      (now) => now.map((layer) => (layer.id === next.id ? next : layer)),
      key === undefined ? undefined : `${next.id} ${key}`,
    )
  return (
    <section aria-labelledby="layers-title">
      <LayersHead onAdd={onAdd} />
      <MissingTables projectRef={project.ref} layers={layers} />
      <ol class="layer-list">
        {layers.map((layer, i) => (
          <li
            key={layer.id}
            class={layer.id === dragged ? 'dragged' : ''}
            onDragOver={(event) => {
              if (dragged === null) return
              event.preventDefault()
              move(dragged, i)
            }}
          >
            <LayerRow
              layer={layer}
              isOpen={layer.id === selected}
              onOpen={() => onSelect(layer.id === selected ? null : layer.id)}
              onChange={replace}
              onLook={() => onLook(layer)}
              onDrag={(on) => setDragged(on ? layer.id : null)}
              onMove={(by) => move(layer.id, i + by)}
            />
            {layer.id === selected && (
              <Opened
                project={project}
                layer={layer}
                onChange={replace}
                onRemove={() => onChange((now) => now.filter(({ id }) => id !== layer.id))}
                onUp={i > 0 ? () => move(layer.id, i - 1) : null}
                onDown={i < layers.length - 1 ? () => move(layer.id, i + 1) : null}
              />
            )}
          </li>
        ))}
      </ol>
    </section>
  )
}

/** The options of the opened layer. */
function Opened(props: {
  project: Project
  layer: MapLayer
  onChange: (layer: MapLayer, key?: string) => void
  onRemove: () => void
  onUp: (() => void) | null
  onDown: (() => void) | null
}): JSX.Element {
  const { project, layer, onChange, onRemove, onUp, onDown } = props
  return (
    <div class="layer-options">
      {layer.kind === 'vector' ? (
        <LayerOptions project={project} layer={layer} onChange={onChange} />
      ) : (
        <RasterOptions project={project} layer={layer} onChange={onChange} />
      )}
      <Shared layer={layer} onChange={onChange} />
      <div class="row">
        <Button kind="small" disabled={!onUp} onClick={() => onUp?.()}>
          Move up
        </Button>
        <Button kind="small" disabled={!onDown} onClick={() => onDown?.()}>
          Move down
        </Button>
        <Button kind="small danger" onClick={onRemove}>
          Remove the layer
        </Button>
      </div>
    </div>
  )
}

function LayerRow(props: {
  layer: MapLayer
  isOpen: boolean
  onOpen: () => void
  onChange: (layer: MapLayer) => void
  onLook: () => void
  onDrag: (on: boolean) => void
  onMove: (by: number) => void
}): JSX.Element {
  const { layer, isOpen, onOpen, onChange, onLook, onDrag, onMove } = props
  const { title, isShown } = layer
  return (
    <div class="layer-row studio-row">
      <button
        type="button"
        class="grip"
        draggable
        aria-label={`Move ${title}: arrow keys`}
        title="Drag, or press the arrow keys"
        onDragStart={(event) => {
          event.dataTransfer?.setData('text/plain', layer.id)
          onDrag(true)
        }}
        onDragEnd={() => onDrag(false)}
        onKeyDown={(event) => {
          const by = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : 0
          if (by === 0) return
          event.preventDefault()
          onMove(by)
        }}
      >
        <Icon name="grip" size={14} />
      </button>
      <input
        type="checkbox"
        aria-label={`Show ${title}`}
        checked={isShown}
        onChange={(event) => onChange({ ...layer, isShown: event.currentTarget.checked })}
      />
      <button type="button" class="layer-name truncate" aria-expanded={isOpen} onClick={onOpen}>
        <LayerMark layer={layer} /> <span class="truncate">{title}</span>
      </button>
      <Button kind="small icon quiet" aria-label={`Zoom to ${title}`} title="Zoom to it" onClick={onLook}>
        <Icon name="locate" />
      </Button>
    </div>
  )
}

/** A small sample of a layer's colours. */
function LayerMark({ layer }: { layer: MapLayer }): JSX.Element {
  if (layer.kind === 'raster') return <Icon name="grid" size={14} />
  return <span class={`mark ${layer.geometry}`} style={stripes(shownColors(layer))} aria-hidden="true" />
}

const clamped = (zoom: number) => Math.min(24, Math.max(0, zoom))

/** Options of every layer: opacity, zooms, name. */
function Shared({
  layer,
  onChange,
}: {
  layer: MapLayer
  onChange: (layer: MapLayer, key?: string) => void
}): JSX.Element {
  const { opacity, title, zooms } = layer
  const [from, to] = zooms
  const show = (...next: [number, number]) => onChange({ ...layer, zooms: next }, 'zooms')
  return (
    <>
      <Option label="Opacity">
        <Slider
          label="Opacity"
          value={opacity}
          range={[0, 1, 0.05]}
          onSlide={(next) => onChange({ ...layer, opacity: next }, 'opacity')}
        />
      </Option>
      <Option label="Zooms">
        <NumberInput label="Shown from zoom" value={from} onNumber={(zoom) => show(Math.min(clamped(zoom), to), to)} />
        <NumberInput
          label="Shown until zoom"
          value={to}
          onNumber={(zoom) => show(from, Math.max(clamped(zoom), from))}
        />
      </Option>
      <Option label="Name">
        <TextInput label="Name" value={title} onText={(next) => onChange({ ...layer, title: next }, 'title')} />
      </Option>
    </>
  )
}
