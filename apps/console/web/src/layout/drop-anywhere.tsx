import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { lazyComponent } from '../components/lazy.tsx'

const DropImport = lazyComponent(() => import('./drop-import.tsx').then((module) => module.DropImport))

/** Accepts files that are dropped anywhere on the page, except on an upload box. */
export function DropAnywhere({ projectRef }: { projectRef: string }): JSX.Element {
  const [isOver, setOver] = useState(false)
  const [drops, setDrops] = useState<readonly { readonly id: string; readonly files: readonly File[] }[]>([])
  useEffect(() => {
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false
    const isTaken = (event: DragEvent) => (event.target as Element).closest?.('.upload-box') !== null
    const over = (event: DragEvent) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      setOver(!isTaken(event))
    }
    const leave = (event: DragEvent) => event.relatedTarget === null && setOver(false)
    const drop = (event: DragEvent) => {
      setOver(false)
      if (!hasFiles(event)) return
      event.preventDefault()
      const files = [...(event.dataTransfer?.files ?? [])]
      if (files.length > 0 && !isTaken(event)) setDrops((now) => [...now, { id: crypto.randomUUID(), files }])
    }
    document.addEventListener('dragover', over)
    document.addEventListener('dragleave', leave)
    document.addEventListener('drop', drop)
    return () => {
      document.removeEventListener('dragover', over)
      document.removeEventListener('dragleave', leave)
      document.removeEventListener('drop', drop)
    }
  }, [])
  return (
    <>
      {isOver && <div class="drop-veil">Drop to see it on a map</div>}
      <div class="drop-cards">
        {drops.map(({ id, files }) => (
          <DropImport
            key={id}
            id={id}
            projectRef={projectRef}
            files={files}
            onClose={() => setDrops((now) => now.filter((drop) => drop.id !== id))}
          />
        ))}
      </div>
    </>
  )
}
