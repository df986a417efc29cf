import { useEffect } from 'preact/hooks'
import type { EditedMap } from './use-map.ts'

/** Ctrl+Z and Ctrl+Shift+Z, except in text inputs, which have their own undo. */
export function useKeys({ undo, redo }: EditedMap): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const isText = (event.target as HTMLElement).matches(
        'textarea, input:not([type=range], [type=checkbox], [type=color])',
      )
      if (isText || !(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'z') return
      event.preventDefault()
      if (event.shiftKey) redo?.()
      else undo?.()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [undo, redo])
}
