import type { JSX } from 'preact'
import { Empty, IconButton, Loading, ProblemNotice } from '../../components/basics.tsx'
import { Icon } from '../../components/icon.tsx'
import { formatAgo } from '../../lib/format.ts'
import { deleteMap, pictureUrl, readMaps } from '../../lib/maps.ts'
import type { Project } from '../../lib/project.ts'
import { Link } from '../../lib/router.tsx'
import { useAction } from '../../lib/use-action.ts'
import { useResource } from '../../lib/use-resource.ts'

/** The maps of a project. */
export function MapsPage({ project }: { project: Project }): JSX.Element {
  const maps = useResource(`maps ${project.ref}`, (signal) => readMaps(project.ref, signal))
  const { problem, run } = useAction()
  const base = `/p/${project.ref}`
  return (
    <div class="page">
      <header class="page-head">
        <h1>Maps</h1>
        <div class="actions">
          <Link class="button" href={`${base}/map`}>
            Explore embeddings
          </Link>
          <Link class="button" href={`${base}/new/osmImportArea?basemap`}>
            Make a basemap
          </Link>
          <Link class="button primary" href={`${base}/maps/new`}>
            <Icon name="plus" size={14} /> New map
          </Link>
        </div>
      </header>
      {(maps.problem ?? problem) && <ProblemNotice problem={(maps.problem ?? problem)!} onRetry={maps.reload} />}
      {!maps.value && !maps.problem && <Loading what="Loading maps" />}
      {maps.value?.length === 0 && (
        <Empty icon="map" title="No map yet">
          Drop a file anywhere on this page, or <Link href={`${base}/maps/new`}>start with a table</Link>.
        </Empty>
      )}
      <ul class="map-cards">
        {maps.value?.map(({ id, title, version, is_public: isPublic, updated_at: updatedAt }) => (
          <li key={id} class="card">
            <Link href={`${base}/maps/${id}`}>
              <Picture src={pictureUrl(project.ref, id)} />
              <strong class="truncate">{title}</strong>
            </Link>
            <span class="small dim nums">
              {formatAgo(updatedAt)}, version {version}
            </span>
            {isPublic && <span class="badge">Public</span>}
            <IconButton
              label={`Delete ${title}`}
              icon="trash"
              title="Delete"
              onClick={() =>
                confirm(`Delete the map “${title}” for good? Its tables stay.`) &&
                void run(() => deleteMap(project.ref, id).then(maps.reload))
              }
            />
          </li>
        ))}
      </ul>
    </div>
  )
}

/** The small picture of a map; an icon for a map without one. */
function Picture({ src }: { src: string }): JSX.Element {
  return (
    <span class="map-picture">
      <Icon name="map" size={20} />
      <img src={src} alt="" loading="lazy" onError={({ currentTarget }) => currentTarget.remove()} />
    </span>
  )
}
