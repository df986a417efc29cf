import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Button, Dialog, Menu, MenuItem, ProblemNotice, Segmented } from '../components/basics.tsx'
import { Form } from '../components/form.tsx'
import { Icon } from '../components/icon.tsx'
import { request, session, signOut } from '../lib/api.ts'
import { navigate } from '../lib/router.tsx'
import { useStore } from '../lib/store.ts'
import { setTheme, theme } from '../lib/theme.ts'
import { useAction } from '../lib/use-action.ts'

const MIN_PASSWORD = 10
const THEMES = [
  { value: 'system', label: <Icon name="screen" size={15} />, title: 'Same as the system' },
  { value: 'light', label: <Icon name="sun" size={15} />, title: 'Light' },
  { value: 'dark', label: <Icon name="moon" size={15} />, title: 'Dark' },
] as const

/** The signed-in user, the theme, the password, and sign-out. */
export function AccountMenu(): JSX.Element | null {
  const signedIn = useStore(session)
  const [changing, setChanging] = useState(false)
  const chosen = useStore(theme)
  if (!signedIn) return null
  const { email, name } = signedIn.user
  return (
    <>
      <Menu
        class="account-menu"
        label={`Account of ${email}`}
        button={
          <>
            <span class="avatar" aria-hidden="true" data-letter={(name || email).charAt(0).toUpperCase()} />
            <span class="truncate who">{name || email}</span>
          </>
        }
      >
        {(close) => (
          <>
            <div class="item-text small faint truncate">{email}</div>
            <Segmented label="Theme" value={chosen} onChange={setTheme} options={THEMES} />
            <hr />
            <MenuItem close={close} onChoose={() => setChanging(true)}>
              <Icon name="key" />
              Change password
            </MenuItem>
            <MenuItem close={close} onChoose={() => void signOut().then(() => navigate('/', { replace: true }))}>
              <Icon name="out" />
              Sign out
            </MenuItem>
          </>
        )}
      </Menu>
      {changing && <ChangePassword onClose={() => setChanging(false)} />}
    </>
  )
}

function ChangePassword({ onClose }: { onClose: () => void }): JSX.Element {
  const { busy, problem, run } = useAction()
  const submit = (form: HTMLFormElement) => {
    const data = new FormData(form)
    return run(async () => {
      await request('PUT', '/api/account/password', { current: data.get('current'), new: data.get('new') })
      onClose()
    })
  }
  return (
    <Dialog title="Change password" onClose={onClose}>
      <Form onSubmit={(form) => void submit(form)}>
        <h2>Change password</h2>
        {problem && <ProblemNotice problem={problem} />}
        <div class="field">
          <label for="current-password">Current password</label>
          <input
            id="current-password"
            name="current"
            type="password"
            autocomplete="current-password"
            class="input"
            required
          />
        </div>
        <div class="field">
          <label for="new-password">New password</label>
          <input
            id="new-password"
            name="new"
            type="password"
            autocomplete="new-password"
            class="input"
            minLength={MIN_PASSWORD}
            required
            aria-describedby="new-password-help"
          />
          <p class="help" id="new-password-help">
            At least {MIN_PASSWORD} characters. Your other sessions end.
          </p>
        </div>
        <footer>
          <Button onClick={onClose}>Cancel</Button>
          <button type="submit" class="button primary" disabled={busy}>
            Change password
          </button>
        </footer>
      </Form>
    </Dialog>
  )
}
