import { useEffect, useRef, useState } from 'preact/hooks'
import type { MapDocument } from '@terrane/map-style'
import { toProblem, type Problem } from '../../lib/api.ts'
import { saveMap } from '../../lib/maps.ts'

/** How the map that is shown and the one that is kept belong together. */
export type SaveState = 'draft' | 'saved' | 'waiting' | 'saving' | 'stale' | 'failed'

/** A map that is edited: saved as it changes, with what was undone. */
export interface EditedMap {
  readonly map: MapDocument
  readonly version: number
  readonly state: SaveState
  readonly problem: Problem | null
  /** Changes it. Changes in a row with the same `key`, as of a slider, are undone as one. */
  readonly change: (next: MapDocument, key?: string) => void
  readonly undo: (() => void) | null
  readonly redo: (() => void) | null
  /** Saves now; a draft becomes a map. */
  readonly save: () => Promise<void>
}

const SAVE_MS = 800
const MOST_STEPS = 100

interface Start {
  readonly id: string
  readonly version: number
  readonly document: MapDocument
}

interface Steps {
  readonly past: readonly MapDocument[]
  readonly now: MapDocument
  readonly future: readonly MapDocument[]
  readonly key: string | null
}

/**
 * Edits a map. It is saved a moment after each change.
 *
 * @param start version 0 for a draft, which is saved by its first change
 * @param viewNow the view that is saved with it
 */
export function useMap(ref: string, start: Start, viewNow: () => MapDocument['view']): EditedMap {
  const [steps, setSteps] = useState<Steps>({ past: [], now: start.document, future: [], key: null })
  const { put, ...saved } = useSaver(ref, start, viewNow)
  const go = (next: Steps) => {
    setSteps(next)
    put(next.now)
  }
  const { past, now, future, key: lastKey } = steps
  return {
    ...saved,
    map: now,
    change: (next, key) => {
      const isSameStep = key !== undefined && key === lastKey
      go({ past: isSameStep ? past : [...past, now].slice(-MOST_STEPS), now: next, future: [], key: key ?? null })
    },
    undo:
      past.length === 0
        ? null
        : () => go({ past: past.slice(0, -1), now: past.at(-1)!, future: [now, ...future], key: null }),
    redo:
      future.length === 0
        ? null
        : () => go({ past: [...past, now], now: future[0]!, future: future.slice(1), key: null }),
  }
}

/** Saves a map, one save at a time. One that was saved elsewhere meanwhile is not overwritten. */
function useSaver(ref: string, start: Start, viewNow: () => MapDocument['view']) {
  const [state, setState] = useState<SaveState>(start.version === 0 ? 'draft' : 'saved')
  const [problem, setProblem] = useState<Problem | null>(null)
  const [version, setVersion] = useState(start.version)
  const about = useRef({ version: start.version, now: start.document, timer: 0, isBusy: false, isEnded: false }).current
  const save = async (): Promise<void> => {
    clearTimeout(about.timer)
    about.timer = 0
    // The save that is under way sees to what changed since.
    if (about.isEnded || about.isBusy) return
    about.isBusy = true
    setState('saving')
    try {
      let sent: MapDocument
      do {
        sent = about.now
        about.version = await saveMap(ref, start.id, about.version, { ...sent, view: viewNow() ?? sent.view })
      } while (sent !== about.now)
      setVersion(about.version)
      setProblem(null)
      setState('saved')
    } catch (error) {
      const seen = toProblem(error)
      about.isEnded = seen.status === 409
      setState(about.isEnded ? 'stale' : 'failed')
      setProblem(seen)
    }
    about.isBusy = false
  }
  const put = (now: MapDocument) => {
    about.now = now
    if (about.isEnded) return
    setState('waiting')
    clearTimeout(about.timer)
    about.timer = setTimeout(() => void save(), SAVE_MS)
  }
  useEffect(() => {
    // What waits is saved before the page is left.
    const leave = () => {
      if (about.timer !== 0) void save()
    }
    const hide = () => document.visibilityState === 'hidden' && leave()
    document.addEventListener('visibilitychange', hide)
    return () => {
      document.removeEventListener('visibilitychange', hide)
      leave()
    }
  }, [])
  return { state, problem, version, save, put }
}
