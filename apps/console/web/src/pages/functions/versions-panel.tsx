import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Loading, ProblemNotice } from '../../components/basics.tsx'
import { toProblem, type Problem } from '../../lib/api.ts'
import { formatAgo, formatBytes } from '../../lib/format.ts'
import { readVersions, removeFunction, rollBack, type FunctionShown } from '../../lib/functions.ts'
import type { Project } from '../../lib/project.ts'
import { useResource } from '../../lib/use-resource.ts'

/** The versions of a deployed function: the live one, rollback to another, and removal of the function. */
export function VersionsPanel(props: { project: Project; shown: FunctionShown; onChange: () => void }): JSX.Element {
  const { project, shown, onChange } = props
  const { name } = shown
  const versions = useResource(`versions ${project.ref} ${name}`, (signal) => readVersions(project.ref, name, signal))
  const [problem, setProblem] = useState<Problem | null>(null)
  const act = (work: Promise<unknown>, done: () => void) => {
    setProblem(null)
    work.then(done, (error: unknown) => setProblem(toProblem(error)))
  }
  const rolledBack = () => {
    onChange()
    versions.reload()
  }
  return (
    <section class="card" aria-labelledby="versions-title">
      <header>
        <h2 id="versions-title">Versions</h2>
        <button
          type="button"
          class="button small danger"
          onClick={() =>
            confirm(`Remove ${name}, all its versions and its secrets?`) &&
            act(removeFunction(project.ref, name), onChange)
          }
        >
          Remove the function
        </button>
      </header>
      {problem && <ProblemNotice problem={problem} />}
      {versions.problem && <ProblemNotice problem={versions.problem} onRetry={versions.reload} />}
      {!versions.value && !versions.problem && <Loading what="Reading the versions" />}
      {versions.value && (
        <table class="table">
          <thead>
            <tr>
              <th>Version</th>
              <th>Code</th>
              <th>Deployed</th>
              <th aria-label="Actions" />
            </tr>
          </thead>
          <tbody>
            {versions.value.map(({ version, digest, bytes, created_at: at, live }) => (
              <tr key={version}>
                <td class="nums">{version}</td>
                <td class="dim">
                  <code>{digest.slice(0, 12)}</code> {formatBytes(bytes)}
                </td>
                <td class="dim">{at ? formatAgo(at) : '–'}</td>
                <td class="num">
                  {live ? (
                    <span class="badge success">Live</span>
                  ) : (
                    <button
                      type="button"
                      class="button small"
                      aria-label={`Let version ${version} answer`}
                      onClick={() => act(rollBack(project.ref, name, version), rolledBack)}
                    >
                      Roll back to it
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}
