import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { Notice, ProblemNotice } from '../components/basics.tsx'
import { Form } from '../components/form.tsx'
import { Mark } from '../components/icon.tsx'
import { signIn } from '../lib/api.ts'
import { useAction } from '../lib/use-action.ts'

/** The sign-in form. The URL does not change, so that the requested page is shown afterwards. */
export function SignInPage({ ended = false }: { ended?: boolean }): JSX.Element {
  const { busy, problem, run } = useAction()
  useEffect(() => {
    document.title = 'Sign in · Terrane'
  }, [])
  const submit = (form: HTMLFormElement) => {
    const data = new FormData(form)
    return run(() => signIn(data.get('email') as string, data.get('password') as string))
  }
  return (
    <main class="center">
      <div class="sign-in">
        <h1 class="brand">
          <Mark />
          Terrane
        </h1>
        <Form class="card" aria-label="Sign in" onSubmit={(form) => void submit(form)}>
          {ended && !problem && <Notice>Your session has expired. Sign in to continue.</Notice>}
          {problem && <ProblemNotice problem={problem} />}
          <div class="field">
            <label for="email">E-mail</label>
            <input id="email" name="email" type="email" class="input" autocomplete="username" required autofocus />
          </div>
          <div class="field">
            <label for="password">Password</label>
            <input
              id="password"
              name="password"
              type="password"
              class="input"
              autocomplete="current-password"
              required
            />
          </div>
          <button type="submit" class="button primary" disabled={busy}>
            {busy ? 'Signing in …' : 'Sign in'}
          </button>
        </Form>
      </div>
    </main>
  )
}
