package pullrun

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/machine"
)

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
