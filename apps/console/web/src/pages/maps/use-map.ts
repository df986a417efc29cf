import { useEffect, useRef, useState } from 'preact/hooks'
import type { MapDocument } from '@terrane/map-style'
import { toProblem, type Problem } from '../../lib/api.ts'
import { saveMap } from '../../lib/maps.ts'

/** Relation of the displayed map to the stored one. */
export type SaveState = 'draft' | 'saved' | 'waiting' | 'saving' | 'stale' | 'failed'

/** An edited map, which is saved after changes, with undo and redo. */
export interface EditedMap {
  readonly map: MapDocument
  readonly version: number
  readonly state: SaveState
  readonly problem: Problem | null
  /**
   * Changes the current map. Consecutive changes with the same `key`, such as those of a slider, are undone together.
   */
  readonly change: (edit: (now: MapDocument) => MapDocument, key?: string) => void
  readonly undo: (() => void) | null
  readonly redo: (() => void) | null
  /** Saves all changes now and returns the version; a draft becomes a map. Rejects when saving fails. */
  readonly save: () => Promise<number>
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
  // Asynchronous additions are based on the latest map.
  const latest = useRef(steps)
  const go = (next: Steps) => {
    latest.current = next
    setSteps(next)
    put(next.now)
  }
  const { past, now, future } = steps
  return {
    ...saved,
    map: now,
    change: (edit, key) => {
      const last = latest.current
      const isSameStep = key !== undefined && key === last.key
      const before = isSameStep ? last.past : [...last.past, last.now].slice(-MOST_STEPS)
      go({ past: before, now: edit(last.now), future: [], key: key ?? null })
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

interface Saving {
  version: number
  now: MapDocument
  /** Timer of the next save; 0 for none. */
  timer: number
  running: Promise<number> | null
  isFailed: boolean
  /** True when the map was saved elsewhere; then it is no longer saved here. */
  isEnded: boolean
}

/** Saves a map, one save at a time. A map that was saved elsewhere meanwhile is not overwritten. */
function useSaver(ref: string, start: Start, viewNow: () => MapDocument['view']) {
  const [state, setState] = useState<SaveState>(start.version === 0 ? 'draft' : 'saved')
  const [problem, setProblem] = useState<Problem | null>(null)
  const [version, setVersion] = useState(start.version)
  const about = useRef<Saving>({
    isFailed: false,
    version: start.version,
    now: start.document,
    timer: 0,
    running: null,
    isEnded: false,
  }).current
  const write = async (): Promise<number> => {
    setState('saving')
    try {
      let sent: MapDocument
      do {
        clearTimeout(about.timer)
        about.timer = 0
        sent = about.now
        about.version = await saveMap(ref, start.id, about.version, { ...sent, view: viewNow() ?? sent.view })
      } while (sent !== about.now)
      setVersion(about.version)
      about.isFailed = false
      setProblem(null)
      setState('saved')
      return about.version
    } catch (error) {
      const seen = toProblem(error)
      about.isFailed = true
      about.isEnded = seen.status === 409
      setState(about.isEnded ? 'stale' : 'failed')
      setProblem(seen)
      throw error
    } finally {
      about.running = null
    }
  }
  const save = (): Promise<number> => {
    // The running save also saves later changes.
    if (!about.isEnded) return (about.running ??= write())
    return Promise.reject(new Error('The map was changed in another window, so this one is not saved.'))
  }
  // The state shows the reason of a failure.
  const saveSoon = () => void save().catch(() => {})
  const put = (now: MapDocument) => {
    about.now = now
    if (about.isEnded) return
    setState('waiting')
    clearTimeout(about.timer)
    about.timer = setTimeout(saveSoon, SAVE_MS)
  }
  useLeave(about, saveSoon)
  return { state, problem, version, save, put }
}

/** Saves pending changes before the page is left, and asks the user to stay until that is done. */
function useLeave(about: Saving, saveSoon: () => void): void {
  useEffect(() => {
    const leave = () => {
      if (about.timer !== 0) saveSoon()
    }
    const hide = () => document.visibilityState === 'hidden' && leave()
    const isSaved = () => about.timer === 0 && about.running === null && !about.isFailed
    const warn = (event: BeforeUnloadEvent) => isSaved() || event.preventDefault()
    document.addEventListener('visibilitychange', hide)
    addEventListener('beforeunload', warn)
    return () => {
      document.removeEventListener('visibilitychange', hide)
      removeEventListener('beforeunload', warn)
      leave()
    }
  }, [])
}
