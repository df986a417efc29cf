import type { JSX } from 'preact'
import type { Map as MapLibreMap } from 'maplibre-gl'
import { Button, Loading, ProblemNotice } from '../../components/basics.tsx'
import { Icon } from '../../components/icon.tsx'
import { projectPath, request } from '../../lib/api.ts'
import { formatAgo, formatBytes } from '../../lib/format.ts'
import type { Project } from '../../lib/project.ts'
import { Link } from '../../lib/router.tsx'
import { useStore } from '../../lib/store.ts'
import { useAction } from '../../lib/use-action.ts'
import type { Resource } from '../../lib/use-resource.ts'
import { layerColor } from '../../map/colors.ts'
import type { Layer, LayerList } from '../../lib/layers.ts'
import { layerBox, visibleLayers } from '../../map/layers.ts'
import { lookAt } from '../../map/look-at.ts'
import { Swatch } from '../../map/swatch.tsx'

/** The archives of the project, which of them are shown, and their extents. */
export function LayersSection(props: {
  project: Project
  map: MapLibreMap | null
  layers: Resource<LayerList>
}): JSX.Element {
  const { project, map, layers } = props
  const shown = visibleLayers(project.ref)
  const visible = useStore(shown)
  const { problem, run } = useAction()
  const list = layers.value
  const archive = `/p/${project.ref}/new/archiveToPmtiles`
  return (
    <section aria-labelledby="layers-title">
      <h2 id="layers-title">
        <Icon name="archive" />
        Archives
      </h2>
      {layers.problem && <ProblemNotice problem={layers.problem} onRetry={layers.reload} />}
      {problem && <ProblemNotice problem={problem} />}
      {!list && !layers.problem && <Loading what="Loading layers" />}
      {list && !list.exists && (
        <MissingBucket
          onCreate={() =>
            void run(async () => {
              await request('POST', projectPath(project.ref, '/storage/v1/bucket'), { name: 'pmtiles' })
              layers.reload()
            })
          }
        />
      )}
      {list?.exists && list.data.length === 0 && (
        <p class="dim">
          No layer yet. <Link href={`/p/${project.ref}/new/osmImportArea`}>Import an area</Link>, then{' '}
          <Link href={archive}>archive a table</Link>.
        </p>
      )}
      <ul>
        {list?.data.map((layer) => (
          <LayerRow
            key={layer.path}
            layer={layer}
            checked={visible.includes(layer.path)}
            onCheck={(checked) =>
              shown.set(checked ? [...visible, layer.path] : visible.filter((path) => path !== layer.path))
            }
            onLook={() => {
              if (!visible.includes(layer.path)) shown.set([...visible, layer.path])
              if (map) void run(async () => lookAt(map, await layerBox(project.ref, layer.path)))
            }}
          />
        ))}
      </ul>
      {list?.exists && list.data.length > 0 && (
        <Link class="small" href={archive}>
          Make an archive of another table
        </Link>
      )}
    </section>
  )
}

function MissingBucket({ onCreate }: { onCreate: () => void }): JSX.Element {
  return (
    <>
      <p class="dim">Archives are stored in the bucket pmtiles, which does not exist yet.</p>
      <Button onClick={onCreate}>Create the bucket</Button>
    </>
  )
}

function LayerRow(props: {
  layer: Layer
  checked: boolean
  onCheck: (checked: boolean) => void
  onLook: () => void
}): JSX.Element {
  const { layer, checked, onCheck, onLook } = props
  const id = `layer-${layer.path}`
  return (
    <li class="layer-row">
      <input id={id} type="checkbox" checked={checked} onChange={(event) => onCheck(event.currentTarget.checked)} />
      <Swatch color={layerColor(layer.path)} />
      <label for={id}>
        <span class="truncate">{layer.name}</span>
        <span class="small faint nums">
          {formatBytes(layer.bytes)}
          {layer.updated_at && `, ${formatAgo(layer.updated_at)}`}
        </span>
      </label>
      <Button kind="small icon quiet" aria-label={`Zoom to ${layer.name}`} title="Zoom to it" onClick={onLook}>
        <Icon name="locate" />
      </Button>
    </li>
  )
}
