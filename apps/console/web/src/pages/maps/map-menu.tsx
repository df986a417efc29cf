import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Map as MapLibreMap } from 'maplibre-gl'
import { addressed, compile, publishedOf, tablesOf, type MapDocument } from '@terrane/map-style'
import { Button, Code, Dialog, Loading, Menu, MenuItem, ProblemNotice } from '../../components/basics.tsx'
import { Icon } from '../../components/icon.tsx'
import { readKeys } from '../../lib/keys.ts'
import { formatAgo } from '../../lib/format.ts'
import { readMap, readVersion, readVersions, shareMap, unshareMap, type KeptMap } from '../../lib/maps.ts'
import type { Project } from '../../lib/project.ts'
import { Link } from '../../lib/router.tsx'
import { useAction } from '../../lib/use-action.ts'
import { useResource } from '../../lib/use-resource.ts'
import { saveBlob } from '../../lib/save-blob.ts'
import { pngOf, printMap } from '../../map/print-map.ts'
import { SavePage } from './save-page.tsx'
import type { EditedMap } from './use-map.ts'

interface MenuProps {
  readonly project: Project
  readonly kept: KeptMap
  readonly edited: EditedMap
  readonly map: MapLibreMap | null
  readonly onReload: () => void
}

/** Share, versions and files of a map. */
export function MapMenu(props: MenuProps): JSX.Element {
  const { project, kept, edited, map } = props
  const [open, setOpen] = useState<'share' | 'versions' | 'page' | null>(null)
  const name = edited.map.title.replaceAll(/[^\p{L}\p{N}]+/gu, '-').toLowerCase() || 'map'
  return (
    <>
      <Button kind="small" disabled={edited.version === 0} onClick={() => setOpen('share')}>
        Share
      </Button>
      <Menu class="map-menu" label="More" button={<Icon name="more" size={20} />}>
        {(close) => {
          const item = (label: string, work: () => void) => (
            <MenuItem close={close} onChoose={work}>
              {label}
            </MenuItem>
          )
          return (
            <>
              {item('Versions', () => setOpen('versions'))}
              {item('Save as PNG', () => map && void pngOf(map).then((blob) => saveBlob(blob, `${name}.png`)))}
              {item('Print, or save as PDF', () => map && void printMap(map))}
              {item('Save as static page', () => map && setOpen('page'))}
              {item('Save as style JSON', () => void saveStyle(project, edited, `${name}.json`))}
              <Link class="item" href={`/p/${project.ref}/maps`}>
                All maps
              </Link>
            </>
          )
        }}
      </Menu>
      {open === 'share' && <Share project={project} kept={kept} edited={edited} onClose={() => setOpen(null)} />}
      {open === 'page' && map && (
        <SavePage map={map} document_={edited.map} name={name} onClose={() => setOpen(null)} />
      )}
      {open === 'versions' && <Versions {...props} onClose={() => setOpen(null)} />}
    </>
  )
}

interface ShareProps extends Pick<MenuProps, 'project' | 'kept' | 'edited'> {
  readonly onClose: () => void
}

/** Makes a map public, explains what becomes public, and shows how to embed it. */
function Share(props: ShareProps): JSX.Element {
  const { project, kept, onClose } = props
  // The map may have been made public or private since the page was opened.
  const now = useResource(`shared ${kept.id}`, (signal) => readMap(project.ref, kept.id, signal))
  return (
    <Dialog title="Share the map" onClose={onClose}>
      <div class="body">
        <h2>Share the map</h2>
        {now.problem && <ProblemNotice problem={now.problem} onRetry={now.reload} />}
        {!now.value && !now.problem && <Loading />}
        {now.value && <ShareForm {...props} kept={now.value} />}
      </div>
    </Dialog>
  )
}

function ShareForm({ project, kept, edited, onClose }: ShareProps): JSX.Element {
  const [path, setPath] = useState<string | null>(kept.is_public ? `/m/${project.id}/${kept.id}` : null)
  const [text, setText] = useState(kept.origins.join(' '))
  const { busy, problem, run } = useAction()
  const share = async () => {
    // The current tables and origins of the dialog; a save may add tables.
    const what = { tables: tablesOf(publishedOf(edited.map)), origins: text.split(/[\s,]+/).filter(Boolean) }
    setPath((await shareMap(project.ref, kept.id, { version: await edited.save(), ...what })).path)
  }
  return (
    <>
      <p class="small dim">Members of the organization open it by the address of this page.</p>
      <Opens map={edited.map} />
      <label class="small">
        Pages that may embed it, such as https://maps.example.org
        <input class="input" value={text} placeholder="none" onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      {problem && <ProblemNotice problem={problem} />}
      <div class="row">
        <Button kind="primary" disabled={busy} onClick={() => void run(share)}>
          {path === null ? 'Make it public' : 'Update the public map'}
        </Button>
        {path !== null && (
          <Button
            kind="danger"
            disabled={busy}
            onClick={() => void run(() => unshareMap(project.ref, kept.id).then(() => setPath(null)))}
          >
            Make it private
          </Button>
        )}
        <Button onClick={onClose}>Close</Button>
      </div>
      {path !== null && <Addresses path={path} />}
    </>
  )
}

/** Lists the data that a public map shows to everyone. */
function Opens({ map }: { map: MapDocument }): JSX.Element {
  const shown = publishedOf(map)
  const tables = tablesOf(shown)
  const hasRasters = shown.layers.some(({ kind }) => kind === 'raster')
  return (
    <>
      {tables.length > 0 && (
        <p class="small">
          A public map shows all rows of {tables.join(', ')} to everyone. The tables become readable with the project’s
          anon key, and stay so after the map is made private, until you unshare them.
        </p>
      )}
      <p class="small">
        Names and numbers of its legend are public, too. Notes and hidden layers are left out. Others see later changes
        only after you update the public map.
      </p>
      {hasRasters && <p class="small">Others see a raster only if its bucket is public.</p>}
    </>
  )
}

/** URLs of a public map. */
function Addresses({ path }: { path: string }): JSX.Element {
  const link = `${location.origin}${path}`
  return (
    <>
      <Labelled label="Link" text={link} />
      <Labelled label="Embed" text={`<iframe src="${link}" width="800" height="500" style="border: 0"></iframe>`} />
      <Labelled label="Style for MapLibre" text={`${location.origin}/api${path}`} />
    </>
  )
}

function Labelled(props: { label: string; text: string }): JSX.Element {
  return (
    <div>
      <span class="small dim">{props.label}</span>
      <Code {...props} />
    </div>
  )
}

function Versions({ project, kept, edited, onClose }: MenuProps & { onClose: () => void }): JSX.Element {
  const versions = useResource(`versions ${kept.id} ${edited.version}`, (signal) =>
    readVersions(project.ref, kept.id, signal),
  )
  const { problem, run } = useAction()
  return (
    <Dialog title="Versions" onClose={onClose}>
      <div class="body">
        <h2>Versions</h2>
        {(problem ?? versions.problem) && <ProblemNotice problem={(problem ?? versions.problem)!} />}
        {!versions.value && <Loading />}
        <ul class="offers">
          {versions.value?.map(({ version, title, saved_at: savedAt }) => (
            <li key={version}>
              <button
                type="button"
                disabled={version === edited.version}
                onClick={() =>
                  void run(async () => {
                    const then = await readVersion(project.ref, kept.id, version)
                    edited.change(() => then)
                    onClose()
                  })
                }
              >
                <span class="truncate">
                  {version}. {title}
                </span>
                <span class="small dim nums">{version === edited.version ? 'now' : formatAgo(savedAt)}</span>
                {version !== edited.version && <span class="link">Restore</span>}
              </button>
            </li>
          ))}
        </ul>
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  )
}

/** Saves the style for other programs. It has the project's URL and no key. */
async function saveStyle(project: Project, { map }: EditedMap, name: string): Promise<void> {
  const { url } = await readKeys(project.ref)
  const style = addressed(compile(map), url ?? location.origin)
  // Other programs do not know MapLibre's word for the resolution of the screen.
  const text = JSON.stringify(style, null, 2).replaceAll('{y}{ratio}.webp', '{y}.webp')
  saveBlob(new Blob([text], { type: 'application/json' }), name)
}
