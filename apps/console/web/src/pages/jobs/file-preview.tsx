import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Loading, ProblemNotice } from '../../components/basics.tsx'
import { Warnings } from '../../components/warnings.tsx'
import { inspectionOf, lookAtFeatures } from '../../lib/file-facts.ts'
import { useResource } from '../../lib/use-resource.ts'

/** Delay after the last input before a file is inspected, in milliseconds. */
const STILL_MS = 700

/** Preview of an import with this body: layers, columns and warnings. */
export function FilePreview(props: {
  projectRef: string
  body: Readonly<Record<string, unknown>>
}): JSX.Element | null {
  const { projectRef, body } = props
  const wanted = JSON.stringify(inspectionOf(body))
  const [asked, setAsked] = useState(wanted)
  useEffect(() => {
    const timer = setTimeout(() => setAsked(wanted), STILL_MS)
    return () => clearTimeout(timer)
  }, [wanted])
  const look = useResource(asked === 'null' ? null : `look ${projectRef} ${asked}`, (signal) =>
    lookAtFeatures(projectRef, JSON.parse(asked) as NonNullable<ReturnType<typeof inspectionOf>>, signal),
  )
  if (asked === 'null') return null
  return (
    <div class="stack">
      <h2 class="small dim">Contents of the file</h2>
      {look.loading && <Loading what="Reading the file" />}
      {look.problem && <ProblemNotice problem={look.problem} onRetry={look.reload} />}
      {look.value && (
        <>
          <ul class="small">
            {look.value.lines.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
          <Warnings warnings={look.value.warnings} />
        </>
      )}
    </div>
  )
}
