import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Map as MapLibreMap } from 'maplibre-gl'
import type { MapDocument } from '@terrane/map-style'
import { Button, Dialog, Loading, ProblemNotice } from '../../components/basics.tsx'
import { formatBytes, formatNumber } from '../../lib/format.ts'
import { saveBlob } from '../../lib/save-blob.ts'
import { useAction } from '../../lib/use-action.ts'
import type { StaticPage } from '../../static-page/make-page.ts'

interface Progress {
  readonly title: string
  readonly zoom: number
  readonly tiles: number
}

/** Saves a map as a folder for any web host. */
export function SavePage(props: {
  map: MapLibreMap
  document_: MapDocument
  name: string
  onClose: () => void
}): JSX.Element {
  const { map, document_: document, name, onClose } = props
  const [progress, setProgress] = useState<Progress | null>(null)
  const [page, setPage] = useState<StaticPage | null>(null)
  const { busy, problem, run } = useAction()
  const abort = useRef(new AbortController())
  useEffect(() => () => abort.current.abort(), [])
  const onTile = (title: string, zoom: number) =>
    setProgress((now) => ({ title, zoom, tiles: (now?.title === title ? now.tiles : 0) + 1 }))
  const make = async () => {
    const { makePage } = await import('../../static-page/make-page.ts')
    const { signal } = abort.current
    const made = await makePage(map, { document, name, signal }, onTile)
    saveBlob(made.zip, made.zip.name)
    setPage(made)
  }
  return (
    <Dialog title="Save as static page" onClose={onClose}>
      <div class="body">
        <h2>Save as static page</h2>
        <p class="small">
          A zip with a web page, MapLibre, and the visible layers and basemap as PMTiles. Unpack it on any web host. It
          needs neither this server nor a key. Later changes of the tables do not appear in it.
        </p>
        <p class="small">
          Everyone who can open the page can read all columns of its layers, and rows that a filter hides.
        </p>
        {problem && <ProblemNotice problem={problem} />}
        {busy && (
          <Loading
            what={
              progress ? `${progress.title}: ${formatNumber(progress.tiles)} tiles, zoom ${progress.zoom}` : 'Starting'
            }
          />
        )}
        {page && (
          <p class="small" role="status">
            {page.zip.name} is saved, {formatBytes(page.zip.size)}.
            {page.coarse.map(({ title, zoom }) =>
              zoom === null
                ? ` ${title} is left out, because it has too many tiles.`
                : ` ${title} has no more detail than at zoom ${zoom}.`,
            )}
          </p>
        )}
        <div class="row">
          <Button kind="primary" disabled={busy} onClick={() => void run(make)}>
            Save
          </Button>
          <Button onClick={onClose}>Close</Button>
        </div>
      </div>
    </Dialog>
  )
}
