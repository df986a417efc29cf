import { tableNameOf } from '@terrane/core'
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { IconButton, Loading, ProblemNotice, ProgressBar } from '../components/basics.tsx'
import { toProblem, type Problem } from '../lib/api.ts'
import { freeName, giveDropped, type Dropped } from '../lib/dropped.ts'
import { jobLinks, joinOf } from '../lib/job-links.ts'
import { submitJob, type Job } from '../lib/jobs.ts'
import { oneFile } from '../lib/one-file.ts'
import { osmExtent } from '../lib/osm-extent.ts'
import { previewOf } from '../lib/preview.ts'
import { Link, navigate } from '../lib/router.tsx'
import { readTables } from '../lib/tables.ts'
import { formOf, taskFor } from '../lib/task-for-file.ts'
import { uploadFile } from '../lib/uploads.ts'
import { useJob } from '../pages/jobs/use-job.ts'

/** Tables of imports that this page began, by project. Two files that are dropped together may have the same name. */
const begunTables = new Map<string, readonly string[]>()

/** Formats that the page cannot read, whose features have places: the map opens while they are imported. */
const HAS_PLACES = /\.(gpkg|fgb|gml|gpx|km[lz]|zip)$/i

interface Progress {
  readonly name: string
  readonly percent: number
  /** Form with the options of the import; null until the file is uploaded. */
  readonly form: string | null
  readonly job: Job | null
  readonly problem: Problem | null
}

/**
 * The import of a dropped file: uploaded, imported in the background, and shown on the map. "Adjust" opens its options.
 */
export function DropImport(props: {
  projectRef: string
  id: string
  files: readonly File[]
  /** Reason why nothing of the drop is imported; null when it is. */
  refusal: unknown
  onClose: () => void
}): JSX.Element {
  const { projectRef, id, files, refusal, onClose } = props
  const [progress, setProgress] = useState<Progress>({
    name: files[0]?.name ?? 'Dropped files',
    percent: 0,
    form: null,
    job: null,
    problem: refusal === null ? null : toProblem(refusal),
  })
  const isShown = useRef(false)
  const onDone = () => {
    isShown.current = true
    onClose()
  }
  const show = (change: Partial<Progress>) => setProgress((now) => ({ ...now, ...change }))
  useEffect(() => {
    if (refusal !== null) return
    const abort = new AbortController()
    const { signal } = abort
    const withdraw = () => void giveDropped({ id, tables: [], rasters: [] }, false)
    take(projectRef, files, { id, show, onDone, signal }).catch((error: unknown) => {
      withdraw()
      if (!signal.aborted) show({ problem: toProblem(error) })
    })
    return () => {
      // Closing the notice before the import begins cancels it; closing it before the layer exists removes the preview.
      abort.abort()
      if (!isShown.current) withdraw()
    }
  }, [])
  const { name, percent, form, job, problem } = progress
  useStayingAsked(percent < 100 && problem === null)
  return (
    <section class="drop-card card" aria-label="Dropped file">
      <div class="row">
        <strong class="truncate">{name}</strong>
        <IconButton label="Close" icon="close" onClick={onClose} />
      </div>
      {problem && <ProblemNotice problem={problem} />}
      {!problem && percent < 100 && <ProgressBar percent={percent} label="Progress of the upload" />}
      {!problem && percent >= 100 && !job && <Loading what="Reading the file" />}
      {job && <Import projectRef={projectRef} id={id} job={job} onDone={onDone} />}
      {form && (
        <Link class="small" href={form}>
          Change the import options
        </Link>
      )}
    </section>
  )
}

/** Asks before the page is left, because that ends an upload. Later the import continues without the page. */
function useStayingAsked(isUploading: boolean): void {
  useEffect(() => {
    if (!isUploading) return
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [isUploading])
}

/** Follows an import to its end, then adds its tables. */
function Import(props: { projectRef: string; id: string; job: Job; onDone: () => void }): JSX.Element {
  const { projectRef, id, job: begun, onDone } = props
  const { job } = useJob(projectRef, begun.taskName, begun.job_id, begun)
  const { error, status } = job ?? begun
  useEffect(() => {
    if (job?.terminal && job.status !== 'success') giveDropped({ id, tables: [], rasters: [] }, false)
    if (job?.status !== 'success') return
    const { tables: all } = jobLinks(job)
    const tables = all.filter(({ geometryType }) => geometryType !== null)
    // A single table without a geometry opens the page that joins it to another table.
    if (tables.length === 0)
      navigate(all.length === 1 ? joinOf(projectRef, all[0]!) : `/p/${projectRef}/jobs/${job.taskName}/${job.job_id}`)
    else showDropped(projectRef, { id, tables: tables.map(({ schema, name }) => `${schema}.${name}`), rasters: [] })
    onDone()
  }, [job?.status])
  return (
    <>
      {status !== 'failed' && <Loading what="Importing" />}
      {status === 'failed' && <p class="problem">{error?.message ?? 'The import failed.'}</p>}
      <Link class="small" href={`/p/${projectRef}/jobs/${begun.taskName}/${begun.job_id}`}>
        Open the job
      </Link>
    </>
  )
}

async function take(
  ref: string,
  files: readonly File[],
  how: {
    readonly id: string
    readonly show: (change: Partial<Progress>) => void
    readonly onDone: () => void
    readonly signal: AbortSignal
  },
): Promise<void> {
  const { id, show, onDone, signal } = how
  const file = await oneFile(files)
  show({ name: file.name })
  const drawPreview = async () => {
    const features = await previewOf(file)
    const preview = { features, table: `public.${tableNameOf(file.name)}` }
    if ((features.length > 0 || HAS_PLACES.test(file.name)) && !signal.aborted)
      showDropped(ref, { id, preview, tables: [], rasters: [] })
  }
  // The upload continues while the preview is read and drawn, and the names of tables are read. A failed preview does
  // not stop the import; a failed upload does.
  const [, sent, tables] = await Promise.allSettled([
    drawPreview(),
    uploadFile(ref, file, (percent) => show({ percent: Math.min(99, percent) }), signal),
    readTables(ref, signal),
  ])
  if (sent.status === 'rejected') throw sent.reason
  signal.throwIfAborted()
  const path = sent.value
  // The header of an OpenStreetMap file has its extent.
  const extent = /\.pbf$/i.test(file.name) ? await osmExtent(file) : null
  const fitting = taskFor(file.name, path, extent)
  const form = formOf(ref, fitting)
  show({ percent: 100, form })
  if (fitting.task === 'createGeoEmbeddings') {
    showDropped(ref, { id, tables: [], rasters: [`storage://${path}`] })
    onDone()
  } else if (fitting.task === 'ogr2ogrImport') {
    const { storagePath = '{}', tableName = 'data' } = fitting.presets
    if (tables.status === 'rejected') throw tables.reason
    const taken = tables.value.map(({ table_name: name }) => name)
    const begun = begunTables.get(ref) ?? []
    const freeTable = freeName(tableName, [...taken, ...begun])
    begunTables.set(ref, [...begun, freeTable])
    const body = { storagePath: JSON.parse(storagePath) as unknown, tableName: freeTable }
    signal.throwIfAborted()
    show({ job: await submitJob(ref, fitting.task, body) })
    // An import of OpenStreetMap data needs an area, which the user chooses in a form.
  } else {
    navigate(form)
    onDone()
  }
}

function showDropped(ref: string, dropped: Dropped): void {
  if (giveDropped(dropped, location.pathname.endsWith('/maps/new'))) return
  giveDropped(dropped, true)
  navigate(`/p/${ref}/maps/new`)
}
