import type { JSX } from 'preact'
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
        {stops.map((stop, i) => {
          const problem = stopProblem(stop)
          return (
            <li key={stop.key} class="stop">
              <span class="pin" aria-hidden="true">
                {stopName(i)}
              </span>
              <input
                class="input nums"
                aria-label={`Place ${stopName(i)}: latitude, longitude`}
                aria-invalid={problem !== null}
                aria-describedby={problem ? `stop-${stop.key}` : undefined}
                placeholder="Click the map, or latitude, longitude"
                value={stop.text}
                onInput={(event) =>
                  onChange(
                    stops.map((other) => (other === stop ? { ...stop, text: event.currentTarget.value } : other)),
                  )
                }
              />
              <button
                type="button"
                class="button small icon quiet"
                aria-label={`Remove place ${stopName(i)}`}
                disabled={stops.length <= 2 && stop.text === ''}
                onClick={() => {
                  const rest = stops.filter((other) => other !== stop)
                  onChange(rest.length < 2 ? [...rest, emptyStop()] : rest)
                }}
              >
                <Icon name="close" size={14} />
              </button>
              {problem && (
                <p class="problem" id={`stop-${stop.key}`}>
                  {problem}
                </p>
              )}
            </li>
          )
        })}
      </ol>
      <div class="chips">
        <button type="button" class="button small" onClick={() => onChange([...stops, emptyStop()])}>
          <Icon name="plus" size={13} />
          Add a place
        </button>
        <button type="button" class="button small" disabled={!filled} onClick={() => onChange(stops.toReversed())}>
          Reverse
        </button>
        <button
          type="button"
          class="button small"
          disabled={!filled}
          onClick={() => onChange([emptyStop(), emptyStop()])}
        >
          Clear
        </button>
      </div>
    </section>
  )
}
