import { uuidv7 } from '@terrane/core'
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { lazyComponent } from '../components/lazy.tsx'
import { filesOfDrop, groupsOf } from '../lib/drop-groups.ts'

const DropImport = lazyComponent(() => import('./drop-import.tsx').then((module) => module.DropImport))
/** Loads the code of maps while the file is still held. A failure is reported by the page that needs the code. */
const loadMaps = () => void import('../pages/maps/map-page.tsx').catch(() => {})

/** A data set that was dropped, or the reason why a drop was refused. */
interface Drop {
  readonly id: string
  readonly files: readonly File[]
  readonly refusal: unknown
}

/** Accepts files and folders that are dropped anywhere on the page, except on an upload box. */
export function DropAnywhere({ projectRef }: { projectRef: string }): JSX.Element {
  const [isOver, setOver] = useState(false)
  const [drops, setDrops] = useState<readonly Drop[]>([])
  useEffect(() => {
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false
    const isTaken = (event: DragEvent) => (event.target as Element).closest?.('.upload-box') !== null
    const over = (event: DragEvent) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      loadMaps()
      setOver(!isTaken(event))
    }
    const add = (groups: readonly (readonly File[])[], refusal: unknown = null) =>
      setDrops((now) => [...now, ...groups.map((files) => ({ id: uuidv7(), files, refusal }))])
    const take = async (transfer: DataTransfer) => {
      try {
        add(groupsOf(await filesOfDrop(transfer)))
      } catch (error) {
        add([[]], error)
      }
    }
    const leave = (event: DragEvent) => event.relatedTarget === null && setOver(false)
    const drop = (event: DragEvent) => {
      setOver(false)
      if (!hasFiles(event)) return
      event.preventDefault()
      if (event.dataTransfer && !isTaken(event)) void take(event.dataTransfer)
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
        {drops.map(({ id, files, refusal }) => (
          <DropImport
            key={id}
            id={id}
            projectRef={projectRef}
            files={files}
            refusal={refusal}
            onClose={() => setDrops((now) => now.filter((drop) => drop.id !== id))}
          />
        ))}
      </div>
    </>
  )
}
