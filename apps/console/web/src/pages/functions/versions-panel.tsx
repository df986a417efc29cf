import type { JSX } from 'preact'
import { Button, Loading, ProblemNotice } from '../../components/basics.tsx'
import { formatAgo, formatBytes } from '../../lib/format.ts'
import { readVersions, removeFunction, rollBack, type FunctionSummary, type Version } from '../../lib/functions.ts'
import type { Project } from '../../lib/project.ts'
import { useAction } from '../../lib/use-action.ts'
import { useResource } from '../../lib/use-resource.ts'

/** The versions of a deployed function: the live one, rollback to another, and removal of the function. */
export function VersionsPanel(props: { project: Project; shown: FunctionSummary; onChange: () => void }): JSX.Element {
  const { project, shown, onChange } = props
  const { name } = shown
  const versions = useResource(`versions ${project.ref} ${name}`, (signal) => readVersions(project.ref, name, signal))
  const { problem, run } = useAction()
  const act = (work: Promise<unknown>, done: () => void) => void run(() => work.then(done))
  const rolledBack = () => {
    onChange()
    versions.reload()
  }
  return (
    <section class="card" aria-labelledby="versions-title">
      <header>
        <h2 id="versions-title">Versions</h2>
        <Button
          kind="small danger"
          onClick={() =>
            confirm(`Remove ${name}, all its versions and its secrets?`) &&
            act(removeFunction(project.ref, name), onChange)
          }
        >
          Remove the function
        </Button>
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
            {versions.value.map((version) => (
              <VersionRow
                key={version.version}
                version={version}
                onRollBack={() => act(rollBack(project.ref, name, version.version), rolledBack)}
              />
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

function VersionRow(props: { version: Version; onRollBack: () => void }): JSX.Element {
  const { version, digest, bytes, created_at: at, live } = props.version
  return (
    <tr>
      <td class="nums">{version}</td>
      <td class="dim">
        <code>{digest.slice(0, 12)}</code> {formatBytes(bytes)}
      </td>
      <td class="dim">{at ? formatAgo(at) : '–'}</td>
      <td class="num">
        {live ? (
          <span class="badge success">Live</span>
        ) : (
          <Button kind="small" aria-label={`Roll back to version ${version}`} onClick={props.onRollBack}>
            Roll back
          </Button>
        )}
      </td>
    </tr>
  )
}
