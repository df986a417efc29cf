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
  /** Changes the map as it is by then. Changes in a row with the same `key`, as of a slider, are undone as one. */
  readonly change: (edit: (now: MapDocument) => MapDocument, key?: string) => void
  readonly undo: (() => void) | null
  readonly redo: (() => void) | null
  /** Saves all changes now and tells the version; a draft becomes a map. Rejects where it is not saved. */
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
  // What is added once it is loaded builds on the map of then.
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
  /** 0 where nothing waits. */
  timer: number
  running: Promise<number> | null
  isFailed: boolean
  /** Saved elsewhere: it is not saved any more. */
  isEnded: boolean
}

/** Saves a map, one save at a time. One that was saved elsewhere meanwhile is not overwritten. */
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
    // The save that is under way sees to what changed since.
    if (!about.isEnded) return (about.running ??= write())
    return Promise.reject(new Error('The map was changed in another window, so this one is not saved.'))
  }
  // Why it failed is told by the state.
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

/** What waits is saved before the page is left; a person who leaves before it is saved is asked. */
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
