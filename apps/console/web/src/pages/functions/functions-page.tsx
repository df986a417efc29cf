import type { JSX } from 'preact'
import { Empty, Loading, ProblemNotice } from '../../components/basics.tsx'
import { formatAgo, formatBytes, formatNumber } from '../../lib/format.ts'
import { readFunctions, type FunctionShown } from '../../lib/functions.ts'
import type { Project } from '../../lib/project.ts'
import { Link } from '../../lib/router.tsx'
import { useResource } from '../../lib/use-resource.ts'
import { CallPanel } from './call-panel.tsx'
import { FunctionLog } from './function-log.tsx'

/** The functions of a project: what they are, a call by hand, and what they log. */
export function FunctionsPage({ project, name }: { project: Project; name?: string }): JSX.Element {
  const functions = useResource(`functions ${project.ref}`, (signal) => readFunctions(project.ref, signal))
  const chosen = functions.value?.find((shown) => shown.name === (name ?? functions.value?.[0]?.name))
  return (
    <div class="page">
      <h1>Functions</h1>
      {functions.problem && <ProblemNotice problem={functions.problem} onRetry={functions.reload} />}
      {!functions.value && !functions.problem && <Loading what="Loading functions" />}
      {functions.value?.length === 0 && (
        <div class="card">
          <Empty icon="func" title="No function yet">
            Deploy one from a folder with an index.ts; it is served under /functions/v1/ of the project.
          </Empty>
        </div>
      )}
      {functions.value && functions.value.length > 0 && (
        <div class="functions">
          <nav class="card function-list" aria-label="Functions">
            {functions.value.map((shown) => (
              <Link
                key={shown.name}
                href={`/p/${project.ref}/functions/${shown.name}`}
                {...(shown === chosen && { 'aria-current': 'page' as const })}
              >
                <strong class="truncate">{shown.name}</strong>
                <span class="small dim truncate">{shown.policy.description || 'No description'}</span>
              </Link>
            ))}
          </nav>
          {chosen ? (
            <div class="stack" key={chosen.name}>
              <FunctionFacts shown={chosen} />
              <FunctionPanels project={project} shown={chosen} />
            </div>
          ) : (
            <p>There is no function {name}.</p>
          )}
        </div>
      )}
    </div>
  )
}

function FunctionPanels({ project, shown }: { project: Project; shown: FunctionShown }): JSX.Element {
  return (
    <>
      <CallPanel project={project} shown={shown} />
      <FunctionLog project={project} name={shown.name} />
    </>
  )
}

const CALLERS = {
  none: 'anyone',
  anon: 'holders of the anon key',
  user: 'signed-in users',
  service: 'the service role',
} as const

function FunctionFacts({ shown }: { shown: FunctionShown }): JSX.Element {
  const { policy, version, digest, bytes, created_by: by, created_at: at } = shown
  const facts: readonly (readonly [string, string])[] = [
    ['Open to', CALLERS[policy.auth]],
    ['Methods', policy.methods.join(', ')],
    ['Limits', `${formatNumber(policy.timeout_ms / 1000)} s, ${policy.memory_mb} MB`],
    ['Reaches', policy.net.length > 0 ? policy.net.join(', ') : 'the project only'],
    ['Version', version === 0 ? 'watched folder' : `${version}, by ${by}${at === null ? '' : `, ${formatAgo(at)}`}`],
    ['Code', `${digest.slice(0, 12)}${bytes > 0 ? `, ${formatBytes(bytes)}` : ''}`],
  ]
  return (
    <section class="card" aria-label="About the function">
      <header>
        <h2>{shown.name}</h2>
        {policy.privileged && <span class="badge cancelled">Privileged</span>}
      </header>
      <dl class="facts body nums">
        {facts.map(([term, value]) => (
          <>
            <dt key={`t${term}`}>{term}</dt>
            <dd key={`d${term}`}>{value}</dd>
          </>
        ))}
      </dl>
    </section>
  )
}
