import type { JSX } from 'preact'
import type { Map as MapLibreMap } from 'maplibre-gl'
import type { MapDocument } from '@terrane/map-style'
import { Button, IconButton, Notice, ProblemNotice } from '../../components/basics.tsx'
import type { KeptMap } from '../../lib/maps.ts'
import type { Project } from '../../lib/project.ts'
import { MapMenu } from './map-menu.tsx'
import type { EditedMap, SaveState } from './use-map.ts'

const SAID: Readonly<Record<SaveState, string>> = {
  draft: 'Draft, not saved',
  saved: 'Saved',
  waiting: 'Saving …',
  saving: 'Saving …',
  stale: 'Not saved: changed elsewhere',
  failed: 'Not saved',
}

/** Title of the edited map, whether it is saved, undo and redo, and the menu. */
export function TitleBar(props: {
  project: Project
  kept: KeptMap
  edited: EditedMap
  map: MapLibreMap | null
  onReload: () => void
}): JSX.Element {
  const { edited, ...rest } = props
  const { state, version, map: document_ } = edited
  return (
    <header class="studio-head">
      <h1 class="visually-hidden">{document_.title}</h1>
      <input
        class="input title"
        aria-label="Title of the map"
        value={document_.title}
        maxLength={200}
        onInput={({ currentTarget: { value } }) =>
          value.trim() !== '' && edited.change((now) => ({ ...now, title: value }), 'title')
        }
      />
      <div class="row">
        <span class={`small ${state === 'stale' || state === 'failed' ? 'warn-text' : 'dim'}`} role="status">
          {SAID[state]}
          {state === 'saved' && `, version ${version}`}
        </span>
        <IconButton
          label="Undo"
          icon="left"
          title="Undo (Ctrl+Z)"
          disabled={!edited.undo}
          onClick={() => edited.undo?.()}
        />
        <IconButton
          label="Redo"
          icon="right"
          title="Redo (Ctrl+Shift+Z)"
          disabled={!edited.redo}
          onClick={() => edited.redo?.()}
        />
        {state === 'draft' && (
          <Button kind="small primary" onClick={() => void edited.save().catch(() => {})}>
            Save
          </Button>
        )}
        <MapMenu {...rest} edited={edited} />
      </div>
    </header>
  )
}

/** Explains why a map is not saved, with a remedy. */
export function Unsaved({ edited, onReload }: { edited: EditedMap; onReload: () => void }): JSX.Element | null {
  const { problem, state, save } = edited
  if (problem === null) return null
  if (state !== 'stale') return <ProblemNotice problem={problem} onRetry={() => void save().catch(() => {})} />
  return (
    <Notice kind="warn">
      This map was changed in another window. Your last changes are not saved.{' '}
      <Button kind="small" onClick={onReload}>
        Load the other version
      </Button>
    </Notice>
  )
}

/** Text of the author about the map. */
export function Notes({ map, onChange }: { map: MapDocument; onChange: EditedMap['change'] }): JSX.Element {
  return (
    <details>
      <summary class="small dim">Notes</summary>
      <textarea
        class="textarea"
        aria-label="Notes about the map"
        maxLength={10_000}
        value={map.notes}
        onInput={({ currentTarget: { value } }) => onChange((now) => ({ ...now, notes: value }), 'notes')}
      />
    </details>
  )
}
