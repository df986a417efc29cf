import type { JSX } from 'preact'
import { readBuckets, readFiles } from '../lib/files.ts'
import { formatBytes } from '../lib/format.ts'
import { useResource } from '../lib/use-resource.ts'
import type { Group } from './read-form.ts'

/** Maximum buckets whose files are listed, and files of each. */
const MOST_BUCKETS = 10

interface StoredFileProps {
  readonly id: string
  readonly projectRef: string
  /** Bucket and path. */
  readonly value: Group
  readonly invalid: boolean
  readonly onChange: (value: Group) => void
}

/** A list of the files in storage; a choice fills bucket and path. Other files are entered by hand. */
export function StoredFile({ id, projectRef, value, invalid, onChange }: StoredFileProps): JSX.Element {
  const stored = useResource(`stored files ${projectRef}`, async (signal) => {
    const buckets = (await readBuckets(projectRef, signal)).slice(0, MOST_BUCKETS)
    const pages = await Promise.all(buckets.map(({ name }) => readFiles(projectRef, name, null, signal)))
    return buckets.map(({ name }, i) => ({ bucket: name, files: pages[i]?.objects ?? [], more: pages[i]?.hasNext }))
  })
  const filled = (stored.value ?? []).filter(({ files }) => files.length > 0)
  const { bucket, path } = value
  const chosen = filled.some((some) => some.bucket === bucket && some.files.some(({ key }) => key === path))
  return (
    <div class="field">
      <label for={id}>File</label>
      <select
        id={id}
        class="select"
        aria-invalid={invalid}
        aria-describedby={`${id}-note`}
        value={chosen ? JSON.stringify([bucket, path]) : ''}
        onChange={(event) => {
          const [inBucket, key] = JSON.parse(event.currentTarget.value || '["",""]') as [string, string]
          onChange({ ...value, bucket: inBucket, path: key })
        }}
      >
        <option value="">{stored.loading ? 'Loading files …' : 'Choose …'}</option>
        {filled.map((some) => (
          <optgroup key={some.bucket} label={some.bucket}>
            {some.files.map(({ key, metadata }) => (
              <option key={key} value={JSON.stringify([some.bucket, key])}>
                {metadata?.size === undefined ? key : `${key} (${formatBytes(metadata.size)})`}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
      <p class="help" id={`${id}-note`}>
        {noteOf(stored.problem !== null, stored.loading, filled)}
      </p>
    </div>
  )
}

function noteOf(failed: boolean, loading: boolean, filled: readonly { readonly more?: boolean | undefined }[]): string {
  if (failed) return 'The list of files could not be read. Type bucket and path.'
  if (!loading && filled.length === 0) return 'No files in storage yet. Upload one on the Data page.'
  return filled.some(({ more }) => more)
    ? 'Shows the first 50 files of each bucket. Type bucket and path for others.'
    : ''
}
