package pullrun

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/machine"
	"github.com/ycbot/ycbot/internal/rundir"
)

// Two processes do not post one run.
func TestEffectsOfALiveRun(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	first, err := OpenEffects(dir, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenEffects(dir, time.Now); !errors.Is(err, rundir.ErrInUse) {
		t.Errorf("beside the first: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := OpenEffects(dir, time.Now)
	if err != nil {
		t.Fatalf("after its end: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// Each key of publish reaches the publisher, in a process that takes over as well.
func TestKeysReachThePublisher(t *testing.T) {
	t.Parallel()
	for key := range reflect.TypeFor[config.Publish]().Fields() {
		var po, recalled Posting
		switch f := reflect.ValueOf(&po.Publish).Elem().FieldByIndex(key.Index); f.Kind() {
		case reflect.Bool:
			f.SetBool(true)
		case reflect.String:
			f.SetString("a value")
		default:
			t.Fatalf("%s is a %s: have this test set one", key.Name, f.Kind())
		}
		stored, err := json.Marshal(po)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(stored, &recalled); err != nil || recalled.Publish != po.Publish {
			t.Errorf("%s is lost: %s, %v", key.Name, stored, err)
		}
		publisher := reflect.ValueOf(NewPoster(machine.Machine{}, nil, po, nil, 0).publisher).Elem()
		if f := publisher.FieldByName(key.Name); !f.IsValid() || f.IsZero() {
			t.Errorf("%s does not reach publish.Publisher: it wants a field of that name, and NewPoster to set it", key.Name)
		}
	}
}
