import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import type { MapLayer } from '@terrane/map-style'
import { Notice } from '../../components/basics.tsx'
import { useResource } from '../../lib/use-resource.ts'
import { readLiveTables } from '../../map/live.ts'
import { withoutTable } from '../../map/missing-tables.ts'

/** Names the layers whose table does not exist any more. The engine draws such a layer as an empty one. */
export function MissingTables({ projectRef, layers }: { projectRef: string; layers: readonly MapLayer[] }) {
  const tables = layers.flatMap((layer) => (layer.kind === 'vector' ? [layer.table] : [])).join()
  const key = tables === '' ? null : `live ${projectRef} ${tables}`
  const live = useResource(key, (signal) => readLiveTables(projectRef, signal))
  const missing = useMemo(() => (live.value ? withoutTable(layers, live.value) : []), [live.value, layers])
  if (missing.length === 0) return null
  return (
    <Notice kind="warn">
      {missing.map(({ title, table }, i): JSX.Element => (
        <p key={i}>
          Layer {title} is empty because table <code>{table}</code> does not exist, or has no geometry. Import it again
          under this name, or remove the layer.
        </p>
      ))}
    </Notice>
  )
}
