import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Button, Empty, Loading, Name, ProblemNotice } from '../../components/basics.tsx'
import { Icon } from '../../components/icon.tsx'
import { deleteFile, linkTo, readBuckets, readFiles, splitPath, type StoredFile } from '../../lib/files.ts'
import { formatAgo, formatBytes } from '../../lib/format.ts'
import type { Project } from '../../lib/project.ts'
import { Link } from '../../lib/router.tsx'
import { formOf, taskFor } from '../../lib/task-for-file.ts'
import { UPLOADS } from '../../lib/uploads.ts'
import { useAction } from '../../lib/use-action.ts'
import { useResource } from '../../lib/use-resource.ts'

/** The files in storage: actions, a link and removal for each. `round` increases when a file was uploaded. */
export function FilesSection({ project, round }: { project: Project; round: number }): JSX.Element {
  const buckets = useResource(`buckets ${project.ref} ${round}`, (signal) => readBuckets(project.ref, signal))
  const [wanted, setWanted] = useState<string | null>(null)
  const names = buckets.value?.map(({ name }) => name) ?? []
  const bucket = wanted ?? (names.includes(UPLOADS) ? UPLOADS : (names[0] ?? null))
  return (
    <section class="stack" aria-labelledby="files-title">
      <div class="row">
        <h2 id="files-title">Files in storage</h2>
        {names.length > 1 && (
          <select
            class="select fit"
            aria-label="Bucket"
            value={bucket ?? ''}
            onChange={(event) => setWanted(event.currentTarget.value)}
          >
            {names.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        )}
      </div>
      {buckets.problem && <ProblemNotice problem={buckets.problem} onRetry={buckets.reload} />}
      {buckets.loading && !buckets.value && <Loading what="Loading files" />}
      {buckets.value?.length === 0 && <NoFile />}
      {bucket !== null && <BucketFiles key={`${bucket} ${round}`} project={project} bucket={bucket} />}
    </section>
  )
}

/** The files of one bucket, a page at a time. */
function BucketFiles({ project, bucket }: { project: Project; bucket: string }): JSX.Element {
  const [before, setBefore] = useState<readonly (string | null)[]>([])
  const [cursor, setCursor] = useState<string | null>(null)
  const [copied, setCopied] = useState<string | null>(null)
  const { problem, run } = useAction()
  const files = useResource(`files ${project.ref} ${bucket} ${cursor ?? ''}`, (signal) =>
    readFiles(project.ref, bucket, cursor, signal),
  )
  const act = (work: () => Promise<unknown>) => run(() => work().then(files.reload))
  const copy = async (key: string) => {
    await navigator.clipboard.writeText(await linkTo(project.ref, bucket, key))
    setCopied(key)
  }
  const { objects, hasNext = false, nextCursor = null } = files.value ?? {}
  const turn = (to: string | null, earlier: typeof before) => {
    setCursor(to)
    setBefore(earlier)
  }
  return (
    <>
      {files.problem && <ProblemNotice problem={files.problem} onRetry={files.reload} />}
      {problem && <ProblemNotice problem={problem} />}
      {objects?.length === 0 && <NoFile />}
      {objects && objects.length > 0 && (
        <FileTable>
          {objects.map((file) => (
            <FileRow
              key={file.key}
              project={project}
              bucket={bucket}
              file={file}
              copied={copied === file.key}
              onCopy={() => void act(() => copy(file.key))}
              onDelete={() =>
                confirm(`Delete ${file.key} from ${bucket} for good?`) &&
                void act(() => deleteFile(project.ref, bucket, file.key))
              }
            />
          ))}
        </FileTable>
      )}
      {(before.length > 0 || hasNext) && (
        <div class="row">
          <PageButton
            label="Previous files"
            disabled={before.length === 0}
            onClick={() => turn(before.at(-1) ?? null, before.slice(0, -1))}
          />
          <PageButton label="Next files" disabled={!hasNext} onClick={() => turn(nextCursor, [...before, cursor])} />
        </div>
      )}
    </>
  )
}

function PageButton(props: { label: string; disabled: boolean; onClick: () => void }): JSX.Element {
  return (
    <Button kind="small" disabled={props.disabled} onClick={props.onClick}>
      {props.label}
    </Button>
  )
}

function NoFile(): JSX.Element {
  return (
    <Empty icon="archive" title="No file here yet">
      Files that you upload and files that jobs write are listed here.
    </Empty>
  )
}

function FileTable({ children }: { children: ComponentChildren }): JSX.Element {
  return (
    <div class="card scroll-x">
      <table class="table cards">
        <thead>
          <tr>
            <th>File</th>
            <th class="num">Size</th>
            <th>Changed</th>
            <th>
              <span class="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}

function FileRow(props: {
  project: Project
  bucket: string
  file: StoredFile
  copied: boolean
  onCopy: () => void
  onDelete: () => void
}): JSX.Element {
  const { project, bucket, file, copied, onCopy, onDelete } = props
  const [name, folder] = splitPath(file.key)
  const fitting = taskFor(name, `${bucket}/${file.key}`)
  return (
    <tr>
      <td class="what" title={file.key}>
        <span class="break">
          <Name text={name} />
        </span>
        {folder !== '' && <div class="small faint break">{folder}</div>}
      </td>
      <td data-label="Size" class="num dim short">
        {file.metadata?.size === undefined ? '–' : formatBytes(file.metadata.size)}
      </td>
      <td data-label="Changed" class="dim short">
        {file.updated_at ? formatAgo(file.updated_at) : '–'}
      </td>
      <td class="num">
        <span class="row end">
          {/\.tiff?$/i.test(name) && (
            <Link
              class="button small"
              href={`/p/${project.ref}/maps/new?${new URLSearchParams({ raster: `storage://${bucket}/${file.key}` })}`}
              aria-label={`Show on a map: ${name}`}
            >
              Show on a map
            </Link>
          )}
          {bucket === UPLOADS && (
            <Link class="button small" href={formOf(project.ref, fitting)} aria-label={`${fitting.label}: ${name}`}>
              {fitting.label}
            </Link>
          )}
          <Button kind="small" aria-label={copied ? `Copied: ${name}` : `Copy URL of ${name}`} onClick={onCopy}>
            <Icon name={copied ? 'check' : 'copy'} size={14} />
            {copied ? 'Copied' : 'Copy URL'}
          </Button>
          <Button kind="small danger" aria-label={`Delete ${name}`} onClick={onDelete}>
            Delete
          </Button>
        </span>
      </td>
    </tr>
  )
}
