import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Loading, ProblemNotice, ProgressBar } from '../../components/basics.tsx'
import { Icon } from '../../components/icon.tsx'
import { toProblem, type Problem } from '../../lib/api.ts'
import { formatBytes, formatNumber } from '../../lib/format.ts'
import { osmExtent } from '../../lib/osm-extent.ts'
import { oneFile } from '../../lib/one-file.ts'
import type { Project } from '../../lib/project.ts'
import { Link } from '../../lib/router.tsx'
import { formOf, lookAtRaster, taskFor, uploadFile, type RasterFacts } from '../../lib/uploads.ts'
import type { Box } from '../../map/graticule.ts'

/** A file that is being uploaded, or was uploaded. */
interface Upload {
  readonly file: File
  readonly percent: number
  /** `bucket/key` once it is uploaded. */
  readonly path: string | null
  readonly facts: RasterFacts | null
  /** Bounding box of OpenStreetMap data, from their file's header. */
  readonly extent: Box | null
}

/** Takes a dropped file, shows its kind, and continues with the task that fits it. */
export function UploadBox({ project, onArrived }: { project: Project; onArrived: () => void }): JSX.Element {
  const [upload, setUpload] = useState<Upload | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const [over, setOver] = useState(false)
  const take = async (list: FileList | undefined | null) => {
    const files = [...(list ?? [])]
    if (files.length === 0) return
    setProblem(null)
    try {
      const file = await oneFile(files)
      setUpload({ file, percent: 0, path: null, facts: null, extent: null })
      const path = await uploadFile(project.ref, file, (percent) => setUpload((now) => now && { ...now, percent }))
      const { task } = taskFor(file.name, path)
      const facts = task === 'createGeoEmbeddings' ? await lookAtRaster(project.ref, path) : null
      const extent = task === 'osmImportArea' ? await osmExtent(file) : null
      setUpload({ file, percent: 100, path, facts, extent })
      onArrived()
    } catch (error) {
      setUpload(null)
      setProblem(toProblem(error))
    }
  }
  const isBusy = upload !== null && upload.path === null
  return (
    <div
      class={over ? 'upload-box over' : 'upload-box'}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        void take(event.dataTransfer?.files)
      }}
    >
      {problem && <ProblemNotice problem={problem} />}
      {!isBusy && (
        <label class="upload-pick">
          <Icon name="upload" />
          <span>
            Drop a file here, or choose one: GeoTIFF, OSM PBF, GeoPackage, Shapefile (all its files, or a zip), GeoJSON,
            CSV, Excel, GPX and more
          </span>
          <input
            class="visually-hidden"
            type="file"
            multiple
            aria-label="Choose a file"
            onChange={(event) => {
              void take(event.currentTarget.files)
              event.currentTarget.value = ''
            }}
          />
        </label>
      )}
      {isBusy && (
        <>
          <Loading what={`Uploading ${upload.file.name}, ${formatBytes(upload.file.size)}`} />
          <ProgressBar percent={upload.percent} label="Progress of the upload" />
        </>
      )}
      {upload?.path && <Arrived project={project} upload={upload} path={upload.path} />}
    </div>
  )
}

function Arrived({ project, upload, path }: { project: Project; upload: Upload; path: string }): JSX.Element {
  const fitting = taskFor(upload.file.name, path, upload.extent)
  const { facts } = upload
  return (
    <div class="arrived" role="status">
      <span>
        <strong>{upload.file.name}</strong> is in storage as <code>{path}</code>, {formatBytes(upload.file.size)}
        {facts &&
          `: ${formatNumber(facts.width)} × ${formatNumber(facts.height)} pixels, ${facts.count} ${facts.count === 1 ? 'band' : 'bands'} of ${facts.dtype}, ${facts.crs_name}`}
        .
      </span>
      <Link class="button primary" href={formOf(project.ref, fitting)}>
        {fitting.label}
      </Link>
    </div>
  )
}
