import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { ProblemNotice, Segmented } from '../../components/basics.tsx'
import { Icon } from '../../components/icon.tsx'
import { toProblem, type Problem } from '../../lib/api.ts'
import type { Project } from '../../lib/project.ts'
import { TASKS, taskLabel } from '../../lib/tasks.ts'
import { makeWebhook, type Webhook } from '../../lib/webhooks.ts'

const ENDS = {
  any: { label: 'Any end', statuses: ['success', 'failed'] },
  failed: { label: 'Failures', statuses: ['failed'] },
  success: { label: 'Successes', statuses: ['success'] },
} as const satisfies Readonly<Record<string, { label: string; statuses: Webhook['statuses'] }>>
type End = keyof typeof ENDS

/** Asks where to post the ends of jobs, and of which. */
export function WebhookForm(props: {
  project: Project
  onMade: (made: Webhook & { readonly secret: string }) => void
}): JSX.Element {
  const { project, onMade } = props
  const [url, setUrl] = useState('')
  const [description, setDescription] = useState('')
  const [task, setTask] = useState('')
  const [end, setEnd] = useState<End>('any')
  const [problem, setProblem] = useState<Problem | null>(null)
  const [busy, setBusy] = useState(false)
  const make = async () => {
    setBusy(true)
    setProblem(null)
    try {
      const tasks = task === '' ? null : ([task] as NonNullable<Webhook['tasks']>)
      onMade(await makeWebhook(project.ref, { url, description, tasks, statuses: [...ENDS[end].statuses] }))
      setUrl('')
      setDescription('')
    } catch (error) {
      setProblem(toProblem(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <form
      class="card"
      aria-label="New webhook"
      onSubmit={(event) => {
        event.preventDefault()
        void make()
      }}
    >
      <div class="body stack">
        <div class="two">
          <label class="field">
            <span class="label">Address</span>
            <input
              class="input"
              type="url"
              required
              placeholder="https://example.com/hooks/terrane"
              value={url}
              onInput={(event) => setUrl(event.currentTarget.value)}
            />
          </label>
          <label class="field">
            <span class="label">What it is for</span>
            <input
              class="input"
              maxLength={200}
              placeholder="Tells the map team"
              value={description}
              onInput={(event) => setDescription(event.currentTarget.value)}
            />
          </label>
        </div>
        <div class="row">
          <select
            class="select fit"
            aria-label="Task"
            value={task}
            onChange={(event) => setTask(event.currentTarget.value)}
          >
            <option value="">Every task</option>
            {TASKS.map((name) => (
              <option key={name} value={name}>
                {taskLabel(name)}
              </option>
            ))}
          </select>
          <Segmented
            label="Ends"
            value={end}
            onChange={setEnd}
            options={Object.entries(ENDS).map(([value, { label }]) => ({ value: value as End, label }))}
          />
          <button type="submit" class="button primary" disabled={busy || url === ''}>
            <Icon name="plus" size={14} />
            Make the webhook
          </button>
        </div>
        {problem && <ProblemNotice problem={problem} />}
      </div>
    </form>
  )
}
