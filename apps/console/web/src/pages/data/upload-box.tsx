import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Loading, ProblemNotice, ProgressBar } from '../../components/basics.tsx'
import { Icon } from '../../components/icon.tsx'
import { Warnings } from '../../components/warnings.tsx'
import { lazyComponent } from '../../components/lazy.tsx'
import { lookAtFile, type FileLook } from '../../lib/file-facts.ts'
import { formatBytes } from '../../lib/format.ts'
import { oneFile } from '../../lib/one-file.ts'
import type { Project } from '../../lib/project.ts'
import { Link } from '../../lib/router.tsx'
import { formOf, taskFor } from '../../lib/task-for-file.ts'
import { uploadFile } from '../../lib/uploads.ts'
import { useAction } from '../../lib/use-action.ts'

const ExtentMap = lazyComponent(() => import('./extent-map.tsx').then((module) => module.ExtentMap))

/** A file during or after its upload. */
interface Upload {
  readonly file: File
  readonly percent: number
  /** `bucket/key` after the upload. */
  readonly path: string | null
  readonly look: FileLook | null
}

/** Accepts a dropped file, shows its kind, and continues with a suitable task. */
export function UploadBox({ project, onArrived }: { project: Project; onArrived?: () => void }): JSX.Element {
  const [upload, setUpload] = useState<Upload | null>(null)
  const { problem, run } = useAction()
  const [over, setOver] = useState(false)
  const uploadOne = async (files: readonly File[]) => {
    const file = await oneFile(files)
    setUpload({ file, percent: 0, path: null, look: null })
    const path = await uploadFile(project.ref, file, (percent) => setUpload((now) => now && { ...now, percent }))
    setUpload({ file, percent: 100, path: null, look: null })
    const look = await lookAtFile(project.ref, file, path).finally(() => onArrived?.())
    setUpload({ file, percent: 100, path, look })
  }
  const take = (list: FileList | undefined | null) => {
    const files = [...(list ?? [])]
    if (files.length === 0) return
    void run(() =>
      uploadOne(files).catch((error: unknown) => {
        setUpload(null)
        throw error
      }),
    )
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
        take(event.dataTransfer?.files)
      }}
    >
      {problem && <ProblemNotice problem={problem} />}
      {!isBusy && <FilePick onFiles={take} />}
      {isBusy && <UploadProgress upload={upload} />}
      {upload?.path && <Arrived project={project} upload={upload} path={upload.path} />}
    </div>
  )
}

function FilePick({ onFiles }: { onFiles: (files: FileList | null) => void }): JSX.Element {
  return (
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
          onFiles(event.currentTarget.files)
          event.currentTarget.value = ''
        }}
      />
    </label>
  )
}

function UploadProgress({ upload: { file, percent } }: { upload: Upload }): JSX.Element {
  return (
    <>
      <Loading what={percent < 100 ? `Uploading ${file.name}, ${formatBytes(file.size)}` : `Reading ${file.name}`} />
      <ProgressBar percent={percent} label="Progress of the upload" />
    </>
  )
}

function Arrived({ project, upload, path }: { project: Project; upload: Upload; path: string }): JSX.Element {
  const { lines = [], warnings = [], extent = null } = upload.look ?? {}
  const fitting = taskFor(upload.file.name, path, extent)
  return (
    <div class="arrived" role="status">
      <span>
        <strong>{upload.file.name}</strong> is in storage as <code>{path}</code>, {formatBytes(upload.file.size)}.
      </span>
      <Link class="button primary" href={formOf(project.ref, fitting)}>
        {fitting.label}
      </Link>
      {lines.length > 0 && (
        <ul class="plain arrived-facts">
          {lines.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )}
      <Warnings warnings={warnings} />
      {extent && <ExtentMap projectRef={project.ref} extent={extent} />}
    </div>
  )
}
