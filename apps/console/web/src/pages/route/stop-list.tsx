import type { JSX } from 'preact'
import { Button, IconButton } from '../../components/basics.tsx'
import { Icon } from '../../components/icon.tsx'
import { emptyStop, stopName, stopProblem, type Stop } from './stops.ts'

/** The places of a route in their order. */
export function StopList({
  stops,
  onChange,
}: {
  stops: readonly Stop[]
  onChange: (stops: readonly Stop[]) => void
}): JSX.Element {
  const filled = stops.some(({ text }) => text !== '')
  return (
    <section aria-label="Places">
      <ol class="stops">
        {stops.map((stop, i) => (
          <StopRow
            key={stop.key}
            stop={stop}
            name={stopName(i)}
            canRemove={stops.length > 2 || stop.text !== ''}
            onText={(text) => onChange(stops.with(i, { ...stop, text }))}
            onRemove={() => {
              const rest = stops.toSpliced(i, 1)
              onChange(rest.length < 2 ? [...rest, emptyStop()] : rest)
            }}
          />
        ))}
      </ol>
      <div class="chips">
        <Button kind="small" onClick={() => onChange([...stops, emptyStop()])}>
          <Icon name="plus" size={13} />
          Add a place
        </Button>
        <Button kind="small" disabled={!filled} onClick={() => onChange(stops.toReversed())}>
          Reverse
        </Button>
        <Button kind="small" disabled={!filled} onClick={() => onChange([emptyStop(), emptyStop()])}>
          Clear
        </Button>
      </div>
    </section>
  )
}

function StopRow(props: {
  stop: Stop
  name: string
  canRemove: boolean
  onText: (text: string) => void
  onRemove: () => void
}): JSX.Element {
  const { stop, name, canRemove, onText, onRemove } = props
  const problem = stopProblem(stop)
  return (
    <li class="stop">
      <span class="pin" aria-hidden="true">
        {name}
      </span>
      <input
        class="input nums"
        aria-label={`Place ${name}: latitude, longitude`}
        aria-invalid={problem !== null}
        aria-describedby={problem ? `stop-${stop.key}` : undefined}
        placeholder="Click the map, or latitude, longitude"
        value={stop.text}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      <IconButton label={`Remove place ${name}`} icon="close" disabled={!canRemove} onClick={onRemove} />
      {problem && (
        <p class="problem" id={`stop-${stop.key}`}>
          {problem}
        </p>
      )}
    </li>
  )
}
