import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Button, Code, Empty, Loading, ProblemNotice } from '../../components/basics.tsx'
import { Facts } from '../../components/facts.tsx'
import { Icon } from '../../components/icon.tsx'
import { formatAgo, formatBytes, formatNumber } from '../../lib/format.ts'
import { readFunctions, type FunctionSummary, type Policy } from '../../lib/functions.ts'
import type { Project } from '../../lib/project.ts'
import { Link, navigate } from '../../lib/router.tsx'
import { useInterval, useResource } from '../../lib/use-resource.ts'
import { CallPanel } from './call-panel.tsx'
import { DeployBox } from './deploy-box.tsx'
import { FunctionCharts } from './function-charts.tsx'
import { FunctionLog } from './function-log.tsx'
import { VersionsPanel } from './versions-panel.tsx'

/** Refresh interval: functions of a watched folder change whenever a file is saved. */
const LOOK_MS = 5000

/** The functions of a project: their properties and problems, versions, a test call, and the log. */
export function FunctionsPage({ project, name }: { project: Project; name?: string }): JSX.Element {
  const functions = useResource(`functions ${project.ref}`, (signal) => readFunctions(project.ref, signal))
  useInterval(LOOK_MS, functions.reload)
  const chosen = functions.value?.find((shown) => shown.name === (name ?? functions.value?.[0]?.name))
  const [deploying, setDeploying] = useState(false)
  return (
    <div class="page">
      <div class="page-head">
        <h1>Functions</h1>
        <div class="actions">
          <Button kind="primary" aria-expanded={deploying} onClick={() => setDeploying(!deploying)}>
            <Icon name="upload" />
            Deploy a folder
          </Button>
        </div>
      </div>
      {deploying && (
        <DeployBox
          project={project}
          onDone={(deployed) => {
            setDeploying(false)
            functions.reload()
            navigate(`/p/${project.ref}/functions/${deployed}`)
          }}
        />
      )}
      {functions.problem && <ProblemNotice problem={functions.problem} onRetry={functions.reload} />}
      {!functions.value && !functions.problem && <Loading what="Loading functions" />}
      {functions.value?.length === 0 && (
        <div class="card">
          <Empty icon="func" title="No function yet">
            Deploy a folder with an <code>index.ts</code>; it is served under <code>/functions/v1/</code> of the
            project.
          </Empty>
        </div>
      )}
      {functions.value && functions.value.length > 0 && (
        <div class="functions">
          <FunctionList projectRef={project.ref} functions={functions.value} chosen={chosen} />
          {chosen ? (
            <FunctionView key={chosen.name} project={project} shown={chosen} onChange={functions.reload} />
          ) : (
            <p>There is no function {name}.</p>
          )}
        </div>
      )}
    </div>
  )
}

function FunctionList(props: {
  projectRef: string
  functions: readonly FunctionSummary[]
  chosen: FunctionSummary | undefined
}): JSX.Element {
  return (
    <nav class="card function-list" aria-label="Functions">
      {props.functions.map((shown) => (
        <Link
          key={shown.name}
          href={`/p/${props.projectRef}/functions/${shown.name}`}
          {...(shown === props.chosen && { 'aria-current': 'page' as const })}
        >
          <span class="row">
            <strong class="truncate">{shown.name}</strong>
            {shown.problem && <span class="badge failed">{shown.policy ? 'Not updated' : 'Not built'}</span>}
          </span>
          <span class="small dim truncate">{shown.policy?.description || 'No description'}</span>
        </Link>
      ))}
    </nav>
  )
}

function FunctionView(props: { project: Project; shown: FunctionSummary; onChange: () => void }): JSX.Element {
  const { project, shown, onChange } = props
  const { name, policy, problem, version } = shown
  return (
    <div class="stack">
      {problem && <BuildProblem problem={problem} served={policy !== null} />}
      {policy && <FunctionFacts shown={shown} policy={policy} />}
      {policy && <FunctionCharts project={project} name={name} />}
      {policy && <CallPanel project={project} name={name} policy={policy} />}
      {version > 0 && <VersionsPanel key={version} project={project} shown={shown} onChange={onChange} />}
      <FunctionLog project={project} name={name} />
    </div>
  )
}

/** Build or start error of a function. */
function BuildProblem(props: { problem: NonNullable<FunctionSummary['problem']>; served: boolean }): JSX.Element {
  const { problem, served } = props
  return (
    <section class="stack" aria-label="Problem with the newest code">
      <div class="notice error" role="alert">
        <Icon name="alert" />
        <div>
          <strong>{problem.message}</strong> <code class="faint">{problem.code}</code>
          <p class="hint">
            {served
              ? 'The previous version is still live. Fix the files and save them.'
              : 'No version is live yet. Fix the files and save them.'}
          </p>
        </div>
      </div>
      {problem.details && <Code label="Build output" text={problem.details} />}
    </section>
  )
}

const CALLERS = {
  none: 'anyone',
  anon: 'holders of the anon key',
  user: 'signed-in users',
  service: 'the service role',
} as const

function FunctionFacts({ shown, policy }: { shown: FunctionSummary; policy: Policy }): JSX.Element {
  const { version, digest, bytes, created_by: by, created_at: at } = shown
  const facts: readonly (readonly [string, string])[] = [
    ['Callers', CALLERS[policy.auth]],
    ['Methods', policy.methods.join(', ')],
    ['Limits', `${formatNumber(policy.timeout_ms / 1000)} s, ${policy.memory_mb} MB`],
    ['Network', policy.net.length > 0 ? policy.net.join(', ') : 'the project only'],
    ['Version', version === 0 ? 'watched folder' : `${version}, by ${by}${at === null ? '' : `, ${formatAgo(at)}`}`],
    ['Code', `${digest.slice(0, 12)}${bytes > 0 ? `, ${formatBytes(bytes)}` : ''}`],
  ]
  return (
    <section class="card" aria-label="About the function">
      <header>
        <h2>{shown.name}</h2>
        {policy.privileged && <span class="badge cancelled">Privileged</span>}
      </header>
      <Facts class="body nums" rows={facts} />
    </section>
  )
}
