import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Button, Loading, ProblemNotice } from '../../components/basics.tsx'
import { Form } from '../../components/form.tsx'
import { findPlaces, type Place } from '../../lib/places.ts'
import { useResource } from '../../lib/use-resource.ts'

/** Finds places by name in the tables of the project; a click adds one to the route. */
export function PlaceSearch(props: { projectRef: string; onPlace: (place: Place) => void }): JSX.Element {
  const { projectRef, onPlace } = props
  const [text, setText] = useState('')
  const [asked, setAsked] = useState<string | null>(null)
  const found = useResource(asked && `places ${projectRef} ${asked}`, (signal) =>
    findPlaces(projectRef, asked as string, signal),
  )
  return (
    <Form class="place-search" role="search" onSubmit={() => setAsked(text.trim() === '' ? null : text.trim())}>
      <div class="label-row">
        <input
          class="input"
          type="search"
          aria-label="Find a place by its name"
          placeholder="Name of a street, shop or place"
          maxLength={200}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" class="button" disabled={text.trim() === ''}>
          Find
        </button>
      </div>
      {found.loading && <Loading what="Searching" />}
      {found.problem && <ProblemNotice problem={found.problem} onRetry={found.reload} />}
      {found.value && !found.loading && (
        <>
          <ul class="plain" aria-label="Places found">
            {found.value.places.map((place) => (
              <li key={`${place.table} ${place.name}`}>
                <Button kind="quiet small" onClick={() => onPlace(place)}>
                  {place.name} <span class="faint">{place.table.replace(/^public\./, '')}</span>
                </Button>
              </li>
            ))}
          </ul>
          <p class="help" role="status">
            {summaryOf(found.value.places.length, found.value.tables.length)}
          </p>
        </>
      )}
    </Form>
  )
}

function summaryOf(places: number, tables: number): string {
  if (tables === 0) return 'No table has names to search. Import map data first.'
  const where = tables === 1 ? 'one table' : `${tables} tables`
  return places === 0
    ? `No place in ${where} of the project has this name.`
    : `${places} found in ${where} of the project.`
}
