import { uuidv7 } from '@terrane/core'
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { MapDocument, MapLayer } from '@terrane/map-style'
import { Empty, Loading, ProblemNotice } from '../../components/basics.tsx'
import { readMap, type KeptMap } from '../../lib/maps.ts'
import type { Project } from '../../lib/project.ts'
import { Link, usePlace } from '../../lib/router.tsx'
import { useResource } from '../../lib/use-resource.ts'
import { rasterLayer, tableLayer } from '../../map/new-layer.ts'
import { MapEditor, NEW_MAP } from './map-editor.tsx'

/** A map of the project; `new` is a draft of the table or raster that `?table=` or `?raster=` names. */
export function EditMapPage({ project, id }: { project: Project; id: string }): JSX.Element {
  const { query } = usePlace()
  const [draftId] = useState(() => uuidv7())
  const [asked] = useState({ table: query.get('table'), raster: query.get('raster') })
  const [again, setAgain] = useState(0)
  // The draft was saved as a map; a reload shows the stored map.
  const isNew = id === 'new' || (id === draftId && again === 0)
  const kept = useResource(`map ${project.ref} ${isNew ? 'new' : id} ${again}`, async (signal) => {
    const found = isNew
      ? draftOf(draftId, await firstLayers(project.ref, asked))
      : await readMap(project.ref, id, signal)
    return { found }
  })
  if (kept.problem)
    return (
      <div class="page">
        <h1 class="visually-hidden">Map</h1>
        <ProblemNotice problem={kept.problem} onRetry={kept.reload} />
      </div>
    )
  if (!kept.value) return <Loading what="Opening the map" />
  if (!kept.value.found)
    return (
      <Empty icon="map" title="There is no such map" isPage>
        <Link href={`/p/${project.ref}/maps`}>All maps</Link>
      </Empty>
    )
  const reload = () => setAgain(again + 1)
  return (
    <MapEditor key={`${kept.value.found.id} ${again}`} project={project} kept={kept.value.found} onReload={reload} />
  )
}

async function firstLayers(ref: string, asked: { table: string | null; raster: string | null }): Promise<MapLayer[]> {
  if (asked.table !== null) return [await tableLayer(ref, asked.table)]
  if (asked.raster !== null) return [await rasterLayer(ref, asked.raster)]
  return []
}

function draftOf(id: string, layers: readonly MapLayer[]): KeptMap {
  const document: MapDocument = { title: layers[0]?.title ?? NEW_MAP, notes: '', view: null, layers }
  const about = { title: document.title, version: 0, is_public: false, updated_at: new Date().toISOString() }
  return { id, ...about, document, publishable_key: null, origins: [] }
}
