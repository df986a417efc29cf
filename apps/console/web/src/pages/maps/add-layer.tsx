import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { MapLayer } from '@terrane/map-style'
import { Button, Dialog, Loading, ProblemNotice } from '../../components/basics.tsx'
import { TableSearch } from '../../components/table-search.tsx'
import { readFiles, readBuckets, splitPath } from '../../lib/files.ts'
import { formatRows } from '../../lib/format.ts'
import type { Project } from '../../lib/project.ts'
import { findTables } from '../../lib/find-tables.ts'
import { tableLabel } from '../../lib/tables.ts'
import { useAction } from '../../lib/use-action.ts'
import { useResource } from '../../lib/use-resource.ts'
import { layerColor } from '../../map/colors.ts'
import { readLiveTables } from '../../map/live.ts'
import { rasterLayer, tableLayer } from '../../map/new-layer.ts'
import { Swatch } from '../../map/swatch.tsx'

/** Maximum rows in the list before a search. */
const MOST_LISTED = 60

interface Offer {
  readonly name: string
  readonly label: string
  readonly about: string
  readonly make: () => Promise<MapLayer>
}

/** Chooses a table or a raster of the project as a layer. */
export function AddLayer(props: {
  project: Project
  onAdd: (layer: MapLayer) => void
  onClose: () => void
}): JSX.Element {
  const { project, onAdd, onClose } = props
  const offers = useResource(`offers ${project.ref}`, (signal) => readOffers(project.ref, signal))
  const [search, setSearch] = useState('')
  const { busy, problem, run } = useAction()
  const found = findTables(offers.value ?? [], search)
  return (
    <Dialog title="Add a layer" onClose={onClose}>
      <div class="body">
        <h2>Add a layer</h2>
        <p class="dim small">Tables and rasters of this project. To add a file, drop it anywhere on the page.</p>
        <TableSearch value={search} onValue={setSearch} />
        {(problem ?? offers.problem) && <ProblemNotice problem={(problem ?? offers.problem)!} />}
        {(busy || (!offers.value && !offers.problem)) && (
          <Loading what={busy ? 'Reading all rows' : 'Loading tables'} />
        )}
        <ul class="offers">
          {found.slice(0, MOST_LISTED).map(({ name, label, about, make }) => (
            <li key={name} title={name}>
              <button type="button" disabled={busy} onClick={() => void run(async () => onAdd(await make()))}>
                <Swatch color={layerColor(name)} /> <span class="truncate">{label}</span>
                <span class="small dim nums">{about}</span>
              </button>
            </li>
          ))}
        </ul>
        {offers.value && found.length === 0 && <p class="dim">Nothing matches.</p>}
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  )
}

async function readOffers(ref: string, signal: AbortSignal): Promise<Offer[]> {
  const [tables, rasters] = await Promise.all([readLiveTables(ref, signal), readRasters(ref, signal).catch(() => [])])
  return [
    ...tables.map(({ name, geometry_type: kind, rows }) => ({
      name,
      label: tableLabel(name),
      about: [kind, rows !== null && formatRows(rows)].filter(Boolean).join(', '),
      make: () => tableLayer(ref, name),
    })),
    ...rasters.map((path) => ({
      name: path,
      label: splitPath(path)[0],
      about: 'GeoTIFF',
      make: () => rasterLayer(ref, `storage://${path}`),
    })),
  ]
}

async function readRasters(ref: string, signal: AbortSignal): Promise<string[]> {
  const buckets = await readBuckets(ref, signal)
  const pages = await Promise.all(
    buckets.map(async ({ name }) =>
      (await readFiles(ref, name, null, signal)).objects
        .filter(({ key }) => /\.tiff?$/i.test(key))
        .map(({ key }) => `${name}/${key}`),
    ),
  )
  return pages.flat()
}
