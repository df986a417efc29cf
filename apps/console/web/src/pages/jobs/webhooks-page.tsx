import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Button, Code, Empty, Loading, ProblemNotice } from '../../components/basics.tsx'
import { formatAgo } from '../../lib/format.ts'
import type { Project } from '../../lib/project.ts'
import { Link } from '../../lib/router.tsx'
import { taskLabel } from '../../lib/tasks.ts'
import { useAction } from '../../lib/use-action.ts'
import { useInterval, useResource } from '../../lib/use-resource.ts'
import { deleteWebhook, pauseWebhook, readDeliveries, readWebhooks, type Webhook } from '../../lib/webhooks.ts'
import { Crumbs } from './crumbs.tsx'
import { WebhookForm } from './webhook-form.tsx'

const LOOK_MS = 15_000

/** The webhooks that are called when jobs end, and their deliveries. */
export function WebhooksPage({ project }: { project: Project }): JSX.Element {
  const webhooks = useResource(`webhooks ${project.ref}`, (signal) => readWebhooks(project.ref, signal))
  const { problem: refused, run } = useAction()
  const [secret, setSecret] = useState<string | null>(null)
  const [open, setOpen] = useState<string | null>(null)
  useInterval(LOOK_MS, webhooks.reload)
  const act = (work: Promise<unknown>) => void run(() => work).finally(webhooks.reload)
  return (
    <div class="page">
      <Crumbs projectRef={project.ref} />
      <div class="page-head">
        <h1>Webhooks</h1>
      </div>
      <p class="dim lead">
        Each finished job is posted to your URL, signed by the Standard Webhooks specification. A failed delivery is
        retried for half a day.
      </p>
      <WebhookForm
        project={project}
        onMade={(made) => {
          setSecret(made.secret)
          webhooks.reload()
        }}
      />
      {secret && <Secret text={secret} onKept={() => setSecret(null)} />}
      {refused && <ProblemNotice problem={refused} />}
      {webhooks.problem && <ProblemNotice problem={webhooks.problem} onRetry={webhooks.reload} />}
      {!webhooks.value && !webhooks.problem && <Loading what="Loading webhooks" />}
      {webhooks.value?.length === 0 && (
        <div class="card">
          <Empty icon="jobs" title="No webhook yet">
            Get a request at your URL when a job ends.
          </Empty>
        </div>
      )}
      {webhooks.value?.map((webhook) => (
        <WebhookCard
          key={webhook.id}
          projectRef={project.ref}
          webhook={webhook}
          isOpen={open === webhook.id}
          onOpen={() => setOpen(open === webhook.id ? null : webhook.id)}
          act={act}
        />
      ))}
    </div>
  )
}

function Secret({ text, onKept }: { text: string; onKept: () => void }): JSX.Element {
  return (
    <section class="card" aria-label="Secret of the new webhook">
      <header>
        <h2>Secret, shown only once</h2>
        <Button kind="small" onClick={onKept}>
          I have saved it
        </Button>
      </header>
      <div class="body">
        <Code label="Secret" text={text} />
      </div>
    </section>
  )
}

function WebhookCard(props: {
  projectRef: string
  webhook: Webhook
  isOpen: boolean
  onOpen: () => void
  act: (work: Promise<unknown>) => void
}): JSX.Element {
  const { projectRef, webhook, isOpen, onOpen, act } = props
  const { url, description, tasks, statuses, paused } = webhook
  return (
    <section class="card" aria-label={url}>
      <header>
        <h2 class="mono break">{url}</h2>
        {paused && <span class="badge cancelled">Paused</span>}
      </header>
      <div class="body stack">
        <p class="dim">
          {description && `${description}. `}
          {tasks === null ? 'Every task' : tasks.map(taskLabel).join(', ')},{' '}
          {statuses.length === 2 ? 'on success and failure' : statuses[0] === 'failed' ? 'on failure' : 'on success'}.
        </p>
        <div class="row">
          <Button kind="small" aria-expanded={isOpen} onClick={onOpen}>
            Deliveries
          </Button>
          <Button
            kind="small"
            aria-label={`${paused ? 'Resume' : 'Pause'} ${url}`}
            onClick={() => act(pauseWebhook(projectRef, webhook, !paused))}
          >
            {paused ? 'Resume' : 'Pause'}
          </Button>
          <Button
            kind="small danger"
            aria-label={`Delete ${url}`}
            onClick={() => confirm(`Delete the webhook to ${url}?`) && act(deleteWebhook(projectRef, webhook))}
          >
            Delete
          </Button>
        </div>
        {isOpen && <Deliveries projectRef={projectRef} id={webhook.id} />}
      </div>
    </section>
  )
}

const OUTCOMES = {
  pending: ['pending', 'Pending'],
  delivered: ['success', 'Delivered'],
  failed: ['failed', 'Failed'],
} as const

function Deliveries({ projectRef, id }: { projectRef: string; id: string }): JSX.Element {
  const deliveries = useResource(`deliveries ${id}`, (signal) => readDeliveries(projectRef, id, signal))
  useInterval(LOOK_MS, deliveries.reload)
  return (
    <>
      {deliveries.problem && <ProblemNotice problem={deliveries.problem} onRetry={deliveries.reload} />}
      {!deliveries.value && !deliveries.problem && <Loading what="Loading deliveries" />}
      {deliveries.value?.length === 0 && <p class="dim">No delivery yet.</p>}
      {deliveries.value && deliveries.value.length > 0 && (
        <table class="table cards">
          <thead>
            <tr>
              <th>Job</th>
              <th>State</th>
              <th>Last attempt</th>
              <th class="num">Attempts</th>
            </tr>
          </thead>
          <tbody>
            {deliveries.value.map(({ id: message, job_id: job, taskName, status, attempts }) => {
              const last = attempts.at(-1)
              const [look, word] = OUTCOMES[status]
              return (
                <tr key={message}>
                  <td class="what">
                    <Link href={`/p/${projectRef}/jobs/${taskName}/${job}`}>{taskLabel(taskName)}</Link>
                  </td>
                  <td>
                    <span class={`badge ${look}`}>{word}</span>
                  </td>
                  <td class="dim">
                    {last ? `${last.status_code ?? last.error ?? ''}, ${last.ms} ms, ${formatAgo(last.at)}` : '–'}
                  </td>
                  <td class="num" data-label="Attempts">
                    {attempts.length}
                  </td>
                </tr>
              )
            })}
          </tbody>
        </table>
      )}
    </>
  )
}
